import Testing

@testable import TraceServe

@Suite struct AdmissionTests {
    private let admission = Admission(port: 4242, token: "secret-token")

    private func status(
        _ headers: [(name: String, value: String)], _ method: String = "GET", hasContent: Bool = false
    ) -> UInt32? {
        let request = Request(method: method, target: "/secret-token/", headers: headers, hasContent: hasContent)
        return admission.refusal(of: request)?.status
    }

    /// A name that was made to mean 127.0.0.1 is another host's, whatever else is right.
    @Test func hosts() {
        for host in ["127.0.0.1:4242", "localhost:4242", "LOCALHOST:4242"] {
            #expect(status([("Host", host)]) == nil, "\(host)")
        }
        for host in [
            "evil.example:4242", "127.0.0.1", "127.0.0.1:80", "localhost", "localhost:42420",
            "127.0.0.1:4242.evil.example",
            "[::1]:4242", "", "127.1:4242", "user@127.0.0.1:4242", "127.0.0.1:4242, evil.example",
        ] {
            #expect(status([("Host", host)]) == 403, "\(host)")
        }
        #expect(status([]) == 403)
        #expect(status([("Host", "127.0.0.1:4242"), ("Host", "127.0.0.1:4242")]) == 403)
        #expect(status([("host", "127.0.0.1:4242"), ("HOST", "evil.example")]) == 403)
        #expect(status([("Host", "evil.example")], "POST") == 403)
        let plain = Admission(port: 80, token: "t").refusal(
            of: Request(method: "GET", target: "/t/", headers: [("Host", "localhost")]))
        #expect(plain == nil)
    }

    @Test func methods() {
        let host = [(name: "Host", value: "localhost:4242")]
        #expect(status(host, "HEAD") == nil)
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "GETX", ""] {
            #expect(status(host, method) == 405, "\(method)")
        }
        #expect(status(host, hasContent: true) == 413)
    }

    @Test func origins() {
        func status(_ name: String, _ values: String...) -> UInt32? {
            self.status([("Host", "localhost:4242")] + values.map { (name, $0) })
        }
        #expect(status("Origin", "http://127.0.0.1:4242") == nil)
        #expect(status("Origin", "http://localhost:4242") == nil)
        for origin in [
            "null", "", "http://evil.example", "https://127.0.0.1:4242", "http://127.0.0.1:4243", "http://127.0.0.1",
        ] {
            #expect(status("Origin", origin) == 403, "\(origin)")
        }
        #expect(status("Origin", "http://127.0.0.1:4242", "http://evil.example") == 403)
        #expect(status("Sec-Fetch-Site", "same-origin") == nil)
        #expect(status("Sec-Fetch-Site", "none") == nil)
        for site in ["cross-site", "same-site", "", "None"] {
            #expect(status("Sec-Fetch-Site", site) == 403, "\(site)")
        }
    }

    @Test func tokens() {
        func rest(_ target: String) -> Substring? { admission.target(of: Request(method: "GET", target: target)) }
        #expect(rest("/secret-token/") == "")
        #expect(rest("/secret-token/session?a=b") == "session?a=b")
        for target in [
            "", "/", "/secret-token", "/secret-tokes/", "/secret-toke/", "secret-token/", "//secret-token/",
            "/secret-token%2F",
            "/SECRET-TOKEN/", "http://localhost:4242/secret-token/", "*",
        ] {
            #expect(rest(target) == nil, "\(target)")
        }
        let tokens = Set((0..<100).map { _ in SecretText.token() })
        #expect(tokens.count == 100)
        for token in tokens {
            #expect(
                token.count == 22
                    && token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        }
    }

    /// Whatever is answered, it is for nobody but the page.
    @Test func headers() {
        for reply in [Reply.empty(404), .json([]), .error(400, "No.")] {
            let headers = Dictionary(uniqueKeysWithValues: reply.headers.map { ($0.name, $0.value) })
            #expect(headers["Cache-Control"] == "no-store" && headers["X-Content-Type-Options"] == "nosniff")
            #expect(headers["Referrer-Policy"] == "no-referrer")
            #expect(headers["Cross-Origin-Resource-Policy"] == "same-origin")
            #expect(headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
        }
    }
}
