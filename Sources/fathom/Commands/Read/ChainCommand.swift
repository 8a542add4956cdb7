internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct ChainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain", abstract: "Show what a call took so long for, over all threads that it waited for.",
        usage: """
            fathom chain [<options>] [<session>] --call <function>
            fathom chain [<options>] [<session>] --from <time> --to <time>
            """,
        discussion: """
            From the call's end back: what its thread ran, what it waited for, what the thread did meanwhile that ended the \
            wait, and so on. Of sessions that were recorded with fathom record --blocked.
            """,
        examples: [
            ("fathom chain prog.fathom --call work", "Shows the critical path of the longest call of work."),
            (
                "fathom chain prog.fathom --call main --without leaf",
                "Also shows when the call would end if leaf took no time."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp("The longest call of this function.", valueName: "glob|/regex/"), completion: .function)
    var call: String?

    @Option(
        help: ArgumentHelp("Instead of a call, a stretch of time of one thread: from here.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var from: TimeSpan?

    @Option(help: ArgumentHelp("And to here.", valueName: "time"), transform: TimeSpan.init(argument:))
    var to: TimeSpan?

    @Option(
        help: ArgumentHelp("Tell when it would end if these functions took no time.", valueName: "glob|/regex/"),
        completion: .function)
    var without: String?

    @Option(help: ArgumentHelp("Show this many parts; 0 for all. On a terminal, as many as fit.", valueName: "parts"))
    var limit: Int?

    @Option(help: "How to write it.")
    var format = ChainReport.Format.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of parts") }
        if (call == nil) == (from == nil && to == nil) {
            throw ValidationError("name a call (--call FUNC), or a stretch of time (--from, --to)")
        }
        if let from, let to, from.nanoseconds >= to.nanoseconds { throw ValidationError("--from is before --to") }
        _ = try call.map(namePattern)
        _ = try without.map(namePattern)
    }

    func run() throws {
        let query = try input.query { $0.joinsTasks = false }
        let session = query.session
        try session.requireWaits()
        let selected = Set(try query.selected().flatMap(\.threads).map { ObjectIdentifier($0) })
        let all = session.processes.flatMap(\.threads)
        let progress = ReadingProgress(of: all, report: Diagnostics.progress())
        let waits = Waits(
            of: all, session: session, resolver: query.resolver, isAsked: { _ in true }, progress: progress)
        progress.end()
        let patterns = try call.map { [try namePattern($0)] } ?? []
        let found = LongestCall(
            in: all, session: session, resolver: query.resolver,
            isCandidate: { selected.contains(ObjectIdentifier($0)) }, isAsked: query.functions.matching(patterns))
        let (thread, begin, end) = try stretch(found, all, selected, query)
        let chain = Chain(waits, thread: thread, from: begin, to: end, firsts: found.firsts)
        let excluded = try without.map { [try namePattern($0)] } ?? []
        let isExcluded = query.functions.matching(excluded)
        if let without, !query.functions.functions.indices.contains(where: { isExcluded(UInt32($0)) }) {
            throw QueryError.noFunction(without, near: NearNames(to: try namePattern(without), in: query.functions))
        }
        let times = ChainTimes(
            of: chain, waits, session: session, resolver: query.resolver, isAsked: isExcluded)
        let screen = Screen(screenOptions, isText: format == .text)
        var options = ChainReport.Options()
        let what = call.map { "the longest call of \($0)" } ?? "the time"
        options.title = "\(what), thread \(all[thread].tid): \(String(time: end - begin)) from \(String(time: begin))"
        options.without = without
        options.limit = screen.rows(limit, lines: 2)
        options.layout = screen.layout
        options.variable = { query.variable(of: $0, at: $1) }
        let writer = screen.writer()
        ChainReport(chain, times, waits, functions: query.functions, options: options).write(format, to: writer)
        try StandardOutput.finish(writer)
        Diagnostics.warn(query.warnings(of: all), of: session)
    }

    /// The thread and time that are asked for. A stretch of time is the first thread's that is selected.
    private func stretch(
        _ found: LongestCall, _ threads: [TracedThread], _ selected: Set<ObjectIdentifier>, _ query: SessionQuery
    ) throws -> (thread: Int, begin: UInt64, end: UInt64) {
        if let call {
            guard let longest = found.call else {
                throw QueryError.noFunction(call, near: NearNames(to: try namePattern(call), in: query.functions))
            }
            return longest
        }
        guard let thread = threads.firstIndex(where: { selected.contains(ObjectIdentifier($0)) }) else {
            throw query.emptiness
        }
        let last = query.session.clock.nanoseconds(at: threads[thread].lastTicks())
        let begin = max(from?.nanoseconds ?? 0, min(found.firsts[thread], last))
        let end = min(to?.nanoseconds ?? .max, last)
        guard begin < end else { throw ValidationError("the thread has no calls in that time") }
        return (thread, begin, end)
    }
}
