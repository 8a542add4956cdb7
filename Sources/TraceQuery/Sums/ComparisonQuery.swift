internal import Glibc
public import TraceAnalysis
public import TraceFile
public import TraceFindings

/// What has changed between sessions, which are read one after another.
public enum ComparisonQuery {
    /// Sets sides against each other, each of one run or several.
    ///
    /// - Parameters:
    ///   - part: of the time of each session, which has to know it; throws where it does not.
    ///   - listener: is told of what is wrong, and how far reading is.
    public static func changes(
        before: [Session], after: [Session], _ queryOptions: QueryOptions,
        _ options: SessionComparison.Options = SessionComparison.Options(),
        part: (Session) throws(QueryError) -> TimeKind = { _ in .total }, listener: QueryListener = QueryListener()
    ) throws(QueryError) -> Answer<SessionComparison> {
        let sessions = before + after
        // One with itself is a comparison without evidence of noise; more would pretend to have some.
        if sessions.count > 2 { try ComparisonQuery.refuseRepetition(of: sessions) }
        let builder = ComparisonBuilder()
        var isEmpty = true
        var queries: [AggregateQuery] = []
        for (index, session) in sessions.enumerated() {
            let kind = try part(session)
            let query = try AggregateQuery(session, queryOptions, listener: listener)
            let tree = query.anyTree().only(kind)
            isEmpty = isEmpty && tree.paths.isEmpty
            builder.add(
                tree, to: index < before.count ? .before : .after, program: session.processes.first?.path,
                moment: session.startRealtimeNanoseconds)
            queries.append(query)
        }
        try queries.last?.check(isEmpty: isEmpty)
        let unmatched = queries.last?.query.unmatchedPatterns { pattern in
            queries.dropLast().allSatisfy { $0.query.isUnmatched(pattern) }
        }
        return Answer(
            builder.comparison(options: options), notes: queries.last?.query.severalNames ?? [],
            warnings: queries.flatMap(\.lacks) + (unmatched ?? []),
            sessions: sessions)
    }

    /// What is to be known of limits to change; nil where both sides are of several runs.
    public static func caution(_ comparison: SessionComparison) -> String? {
        if comparison.isRepeated { return nil }
        func runs(_ count: Int) -> String { count == 1 ? "one run" : "\(count) runs" }
        return
            "compared \(runs(comparison.runsBefore)) with \(comparison.runsAfter == 1 ? "one" : "\(comparison.runsAfter)"): "
            + "noise is not told from change"
    }

    /// Refuses what is given twice, by whatever name: it would count as evidence of its own.
    private static func refuseRepetition(of sessions: [Session]) throws(QueryError) {
        var seen: Set<String> = []
        for session in sessions {
            guard let resolved = realpath(session.path, nil) else { continue }
            defer { free(resolved) }
            guard seen.insert(String(cString: resolved)).inserted else { throw .givenTwice(session: session.path) }
        }
    }
}
