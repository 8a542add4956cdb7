public import TraceAnalysis
internal import TraceText

extension AggregateQuery {
    /// What rows add up to.
    public enum RowSubject {
        case all(by: Grouping)
        /// The direct callers of some functions.
        case callers(Pattern)
        /// What some functions call directly.
        case callees(Pattern)
    }

    /// What the calls add up to, row by row, those that are too short for the filter left out.
    ///
    /// - Parameter part: of time, that the filter goes by.
    public func rows(_ subject: RowSubject, of part: TimeKind = .total) throws(QueryError) -> Answer<SummedRows> {
        let rows = try allRows(subject).longEnough(for: filter, of: part)
        var emptiness: QueryError?
        if rows.isEmpty {
            switch subject {
            case .callers(let pattern) where filter.minCost == 0: emptiness = .noCallers(pattern.text)
            case .callees(let pattern) where filter.minCost == 0: emptiness = .noCallees(pattern.text)
            default: emptiness = .nothingLeft(near: .none)
            }
        }
        return answer(rows, emptiness: emptiness)
    }

    private func allRows(_ subject: RowSubject) throws(QueryError) -> SummedRows {
        func rows(_ kind: SummedRows.Kind, _ rows: [AggregateRow], dropped: CallSum = CallSum()) -> SummedRows {
            SummedRows(kind, rows, functions: functions, cost: cost, dropped: dropped)
        }
        switch subject {
        case .all(by: .function):
            let known = try functionRows()
            return rows(.functions, known.rows, dropped: known.dropped)
        case .all(by: .thread): return try rows(.threads, threadSums().map { $0.row(cost: cost) })
        case .all(by: .process): return try rows(.processes, ThreadSums.processRows(threadSums(), cost: cost))
        case .all(by: .path): return try SummedRows(pathsOf: tree())
        case .all(by: .line):
            try session.requireCalls(for: "--by line shows where single calls were made")
            let tree = AggregateQuery.aggregation(query, filter, cost, bySite: true).tree(of: threads)
            try check(isEmpty: tree.paths.isEmpty)
            return rows(.lines, tree.rows(by: .line), dropped: tree.dropped)
        case .all(let grouping):
            let tree = try tree()
            return rows(grouping == .file ? .files : .modules, tree.rows(by: grouping), dropped: tree.dropped)
        case .callers(let pattern):
            let tree = try tree(with: pattern)
            return rows(.callers, tree.rows(callersOf: [pattern]), dropped: tree.dropped)
        case .callees(let pattern):
            let tree = try tree(with: pattern)
            return rows(.callees, tree.rows(calleesOf: [pattern]), dropped: tree.dropped)
        }
    }

    /// The call paths of all threads; throws when none is of the functions.
    private func tree(with pattern: Pattern) throws(QueryError) -> CallPathTree {
        let tree = try tree()
        let matches = tree.matching([pattern])
        try check(isEmpty: !tree.paths.contains { matches($0.function) }, matching: pattern)
        return tree
    }

    /// The call paths of a part of the time; given functions, those that lead to them, `callers`, and those that lead on,
    /// `callees`.
    public func paths(
        around pattern: Pattern? = nil, of part: TimeKind = .total
    ) throws(QueryError) -> Answer<[(name: String, tree: CallPathTree)]> {
        let tree = try tree().only(part)
        guard let pattern else { return answer([("paths", tree)]) }
        var below = TreeFilter()
        below.only = [pattern]
        let callees = tree.filtered(below)
        try check(isEmpty: callees.paths.isEmpty, matching: pattern)
        return answer([("callers", tree.inverted(at: [pattern])), ("callees", callees)])
    }

    /// An answer that is read, with what the recording lacks.
    public func answer<Content>(_ content: Content, emptiness: QueryError? = nil) -> Answer<Content> {
        Answer(content, notes: query.severalNames, warnings: warnings, emptiness: emptiness, sessions: [session])
    }
}
