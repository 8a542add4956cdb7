internal import ArgumentParser

/// Whether sums that are kept beside a recording do.
struct CacheOptions: ParsableArguments {
    @Flag(help: "Read recordings even if their sums are known, and do not keep them.")
    var noCache = false

    var isUsed: Bool { !noCache }
}
