# An image that has fathom and the compilers it stands before: docker build -t fathom . && docker run --rm fathom --help
FROM swift:6.3-bookworm AS build
COPY . /fathom
WORKDIR /fathom
RUN apt-get update && Tools/setup --for-packages && Tools/package /packages

FROM debian:bookworm-slim
COPY --from=build /packages/fathom_*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/fathom_*.deb g++ libc6-dev make \
    && rm -rf /var/lib/apt/lists/* /tmp/fathom_*.deb
ENTRYPOINT ["fathom"]
