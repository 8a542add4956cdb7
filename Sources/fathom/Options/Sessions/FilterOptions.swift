internal import ArgumentParser
internal import TraceAnalysis
internal import TraceRequest

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
        name: [.customShort("Z", allowingJoined: true), .long],
        help: ArgumentHelp("Not functions with less code than this, but what they call.", valueName: "bytes"))
    var minSize: UInt64?

    @Option(
        name: [.customShort("T", allowingJoined: true), .long],
        help: ArgumentHelp(
            """
            Other limits for calls of these functions: trace shows them, and what leads to them, whatever -t says; hide hides \
            them; depth=N and min-cost=TIME hold below them. Several with commas, as with fathom record.
            """, valueName: "function@action"), completion: .function)
    var trigger: [String] = []

    @Option(
        name: [.customShort("r", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Only calls in this range of time since the start, as --from and --to: 10ms~20ms, ~20ms, 10ms~ or 10ms~+5ms.",
            valueName: "from~to"),
        transform: TimeRange.init(argument:))
    var range: TimeRange?

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
        if range != nil, from != nil || to != nil {
            throw ValidationError("--range says what --from and --to do: take one of them")
        }
        if let from, let to, from.nanoseconds > to.nanoseconds {
            throw ValidationError("--from is later than --to: nothing lies between them")
        }
    }

    /// The filter that they make; a bad pattern is bad usage.
    func treeFilter() throws -> TreeFilter {
        var result = TreeFilter()
        result.maxDepth = maxDepth ?? .max
        result.minCost = minCost?.nanoseconds ?? 0
        try names.apply(to: &result)
        for text in trigger {
            let trigger = try usage { try TriggerText(reading: text) }, pattern = try namePattern(trigger.pattern)
            if trigger.hides { result.hidden.append(pattern) }
            if let limits = trigger.limits(of: pattern) { result.triggers.append(limits) }
        }
        if result.triggers.count(where: { $0.minCost != nil }) > CallTrigger.most {
            throw ValidationError("--trigger: no more than \(CallTrigger.most) may have min-cost=")
        }
        result.minSize = minSize ?? 0
        result.from = range?.from ?? from?.nanoseconds ?? 0
        result.to = range?.to ?? to?.nanoseconds ?? .max
        return result
    }
}
