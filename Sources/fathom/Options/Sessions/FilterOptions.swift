internal import ArgumentParser
internal import TraceAnalysis

/// The filters, named alike in every command that shows calls.
struct FilterOptions: ParsableArguments {
    @Option(
        name: [.customShort("D", allowingJoined: true), .long],
        help: ArgumentHelp("Hide calls deeper than this; roots are depth 0.", valueName: "depth"))
    var maxDepth: UInt32?

    @Option(
        name: [.customShort("t", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Hide calls shorter than this (10us, 1.5ms, 2s) or, where calls are added up, rows with a smaller total.",
            valueName: "time"),
        transform: TimeSpan.init(argument:))
    var minCost: TimeSpan?

    @OptionGroup var names: NameOptions

    @Option(
        help: ArgumentHelp("Only calls that end after this time since the start.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var from: TimeSpan?

    @Option(
        help: ArgumentHelp("Only calls that begin before this time since the start.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var to: TimeSpan?

    @Flag(
        help: """
            Full names: in C++ with default template arguments, in Swift with every version of a function by itself and what \
            the compiler made.
            """)
    var rawNames = false

    func validate() throws {
        if let from, let to, from.nanoseconds > to.nanoseconds {
            throw ValidationError("--from is later than --to: nothing lies between them")
        }
    }

    /// The filter that they make; a bad pattern is bad usage.
    func treeFilter() throws -> TreeFilter {
        var result = TreeFilter()
        result.maxDepth = maxDepth ?? .max
        result.minCost = minCost?.nanoseconds ?? 0
        result.only = try names.filter.map { try namePattern($0) }
        result.without = try names.notrace.map { try namePattern($0) }
        result.leadingTo = try names.callerFilter.map { try namePattern($0) }
        result.hidden = try names.hide.map { try namePattern($0) }
        result.from = from?.nanoseconds ?? 0
        result.to = to?.nanoseconds ?? .max
        return result
    }
}
