public import TraceAnalysis
public import TraceFile
internal import TraceText

/// Why a function's slowest calls are slow.
public struct TailQuery {
    public let query: SessionQuery
    public let answer: Answer<TailComparison>

    /// - Parameters:
    ///   - pattern: the function's name.
    ///   - slowest: how many of its calls are taken for the slowest.
    ///   - listener: is told of what is wrong, and how far reading is.
    public init(
        _ session: Session, _ options: QueryOptions, function pattern: Pattern, slowest: SlowestPart,
        listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        try session.requireCalls(for: "fathom tail shows single calls")
        let query = SessionQuery(session, options, listener: listener)
        self.query = query
        let threads = try query.selected().flatMap(\.threads)
        let tail = Tail(
            of: session, resolver: query.resolver, filter: query.filter, slowest: slowest,
            onProgress: listener.progress)
        let comparison: TailComparison
        do throws(Tail.Shortfall) {
            comparison = try tail.comparison(of: threads, matching: pattern)
        } catch {
            listener.progress(1)
            query.warnings(of: threads).forEach(listener.warn)
            throw TailQuery.error(error, query, pattern)
        }
        let warnings = query.warnings(of: threads)
        answer = Answer(
            comparison, notes: query.severalNames(of: [pattern]), warnings: warnings, sessions: [session])
        if comparison.pathCount == 0 {
            warnings.forEach(listener.warn)
            throw query.emptiness
        }
    }

    private static func error(_ shortfall: Tail.Shortfall, _ query: SessionQuery, _ pattern: Pattern) -> QueryError {
        switch shortfall {
        case .noFunction:
            query.session.hasCalls
                ? .noFunction(pattern.text, near: NearNames(to: pattern, in: query.functions)) : query.emptiness
        case .noCall: .nothingLeft(near: .none)
        case .noWholeCall: .noWholeCall(pattern.text)
        case .tooFewCalls(let calls): .tooFewCalls(pattern.text, calls)
        }
    }
}
