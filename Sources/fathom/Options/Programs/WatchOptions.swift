internal import ArgumentParser
internal import TraceAnalysis

/// The functions that are watched, and what is shown around their calls.
struct WatchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only calls of these functions, and the path to each; a caller is shown once. They stand out as ***-|name|***.",
            valueName: "glob|/regex/"), completion: .function)
    var watch: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also this many levels below each of them, 0 to \(WatchList.deepest).", valueName: "levels"))
    var relativeDepth: UInt8?

    @Flag(help: "Also all other calls.")
    var complete = false

    func validate() throws {
        guard let relativeDepth else { return }
        if watch.isEmpty {
            throw ValidationError("--relative-depth is of a watch list: --watch says of which functions")
        }
        if relativeDepth > WatchList.deepest {
            throw ValidationError(
                "--relative-depth \(relativeDepth): a watch list goes \(WatchList.deepest) levels deep")
        }
    }

    /// The watch list; nil when nothing is said of one.
    func list() throws -> WatchList? {
        guard complete || !watch.isEmpty else { return nil }
        return WatchList(
            try watch.map { try namePattern($0) }, relativeDepth: relativeDepth ?? 0, isComplete: complete)
    }
}
