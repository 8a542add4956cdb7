public import TraceAnalysis
public import TraceFile
public import TraceFindings
internal import TraceText

extension SessionQuery {
    /// The waits of `threads`, among which somebody may have ended one.
    ///
    /// - Parameter isAsked: whether the waits of a thread are asked for.
    /// - Complexity: O(records), and O(depth) for each wait and wake.
    public func waits(of threads: [TracedThread], isAsked: (TracedThread) -> Bool = { _ in true }) -> NamedWaits {
        let progress = ReadingProgress(of: threads, report: listener.progress)
        let waits = Waits(of: threads, session: session, resolver: resolver, isAsked: isAsked, progress: progress)
        progress.end()
        return NamedWaits(waits, functions: functions) { variable(of: $0, at: $1) }
    }

    /// What the selected threads waited for, and who made them go on.
    ///
    /// The query is to leave tasks in pieces, as ``QueryOptions/joinsTasks`` says: who waits and wakes is a thread.
    ///
    /// - Parameter minCost: what was waited for less is left out, in ns.
    /// - Complexity: as of ``waits(of:isAsked:)``, of all threads.
    public func waits(minCost: UInt64) throws(QueryError) -> Answer<WaitSums> {
        try session.requireWaits()
        let asked = try selectedThreads()
        let sums = WaitSums(
            waits(of: allThreads) { asked.contains(ObjectIdentifier($0)) }, minCost: minCost,
            processors: session.description?.waitSources?.processors)
        return Answer(
            sums, warnings: warnings(of: allThreads) + crowd(sums) + suspended,
            emptiness: sums.rows.isEmpty ? .noWaits(session: session.path) : nil, sessions: [session])
    }

    /// Says where more threads wanted a CPU at once than there are.
    private func crowd(_ sums: WaitSums) -> [String] {
        let most = sums.names.waits.mostRunnable
        guard let processors = sums.processors, most > processors else { return [] }
        return [
            "up to \(most) threads at once wanted a CPU and had none, more than the \(processors) that the program could run "
                + "on: part of what it took is waiting for these"
        ]
    }

    /// Says where tasks may have waited while their threads did other work, or waited for some.
    private var suspended: [String] {
        guard allThreads.contains(where: { $0.chunks.contains(where: \.hasTasks) }) else { return [] }
        return [
            "threads wait here for tasks to run; what the tasks themselves wait is (suspended) in fathom report and fathom tree"
        ]
    }

    /// What a chain leads to.
    public enum ChainEnd {
        /// The longest call of these functions.
        case call(Pattern)
        /// A stretch of the first selected thread's time, in ns since the session's start.
        case stretch(from: UInt64, to: UInt64)
    }

    /// What a call, or a stretch of time, took so long for, over all threads that it waited for. Tasks are in pieces.
    ///
    /// - Parameter without: the functions that are imagined to take no time.
    /// - Complexity: as of ``waits(of:isAsked:)``, of all threads.
    public func chain(_ end: ChainEnd, without: Pattern? = nil) throws(QueryError) -> Answer<CriticalPath> {
        try session.requireWaits()
        let selected = try selectedThreads()
        let names = waits(of: allThreads)
        var call: Pattern?
        if case .call(let pattern) = end { call = pattern }
        let found = LongestCall(
            in: allThreads, session: session, resolver: resolver,
            isCandidate: { selected.contains(ObjectIdentifier($0)) },
            isAsked: functions.matching(call.map { [$0] } ?? []))
        let (thread, begin, last) = try stretch(end, found, selected)
        let isExcluded = functions.matching(without.map { [$0] } ?? [])
        if let without, isUnmatched(without) {
            throw .noFunction(without.text, near: NearNames(to: without, in: functions))
        }
        let chain = Chain(names.waits, thread: thread, from: begin, to: last, firsts: found.firsts)
        let times = ChainTimes(of: chain, names.waits, session: session, resolver: resolver, isAsked: isExcluded)
        return Answer(
            CriticalPath(chain, times, names, call: call?.text, without: without?.text),
            warnings: warnings(of: allThreads)
                + (call != nil && found.isPiece
                    ? [
                        "a task runs such a call in pieces, and this is the longest piece; what the whole call takes, and for "
                            + "how long it is suspended, is in fathom report and fathom tree"
                    ] : []),
            sessions: [session])
    }

    /// The thread and time that are asked for.
    private func stretch(
        _ asked: ChainEnd, _ found: LongestCall, _ selected: Set<ObjectIdentifier>
    ) throws(QueryError) -> (thread: Int, begin: UInt64, end: UInt64) {
        switch asked {
        case .call(let pattern):
            guard let longest = found.call else {
                throw .noFunction(pattern.text, near: NearNames(to: pattern, in: functions))
            }
            return longest
        case .stretch(let from, let to):
            guard let thread = allThreads.firstIndex(where: { selected.contains(ObjectIdentifier($0)) }) else {
                throw emptiness
            }
            let last = session.clock.nanoseconds(at: allThreads[thread].lastTicks())
            let begin = max(from, min(found.firsts[thread], last))
            guard begin < min(to, last) else { throw .noCallsThen }
            return (thread, begin, min(to, last))
        }
    }

    private var allThreads: [TracedThread] { session.processes.flatMap(\.threads) }

    private func selectedThreads() throws(QueryError) -> Set<ObjectIdentifier> {
        Set(try selected().flatMap(\.threads).map { ObjectIdentifier($0) })
    }
}
