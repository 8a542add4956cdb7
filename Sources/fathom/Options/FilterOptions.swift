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
        help: ArgumentHelp("Hide calls shorter than this: 10us, 1.5ms, 2s.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var minCost: TimeSpan?

    @Option(
        name: [.customShort("F", allowingJoined: true), .long],
        help: ArgumentHelp("Only these functions and what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var filter: [String] = []

    @Option(
        name: [.customShort("N", allowingJoined: true), .long],
        help: ArgumentHelp("Not these functions, nor what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var notrace: [String] = []

    @Option(
        name: [.customShort("C", allowingJoined: true), .long],
        help: ArgumentHelp("Only call paths that lead to these functions.", valueName: "glob|/regex/"),
        completion: .function)
    var callerFilter: [String] = []

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: ArgumentHelp("Not these functions, but what they call.", valueName: "glob|/regex/"),
        completion: .function)
    var hide: [String] = []

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

    /// The filter that they make; a bad pattern is bad usage.
    func treeFilter() throws -> TreeFilter {
        var result = TreeFilter()
        result.maxDepth = maxDepth ?? .max
        result.minCost = minCost?.nanoseconds ?? 0
        result.only = try filter.map { try namePattern($0) }
        result.without = try notrace.map { try namePattern($0) }
        result.leadingTo = try callerFilter.map { try namePattern($0) }
        result.hidden = try hide.map { try namePattern($0) }
        result.from = from?.nanoseconds ?? 0
        result.to = to?.nanoseconds ?? .max
        return result
    }
}
