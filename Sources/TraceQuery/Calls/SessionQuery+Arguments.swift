public import TraceAnalysis
internal import TraceFile
internal import TraceText

extension SessionQuery {
    /// What the calls of some functions add up to by the value of an argument. Times are as they were recorded.
    ///
    /// - Parameter argument: its name, as it was asked for while recording.
    /// - Complexity: O(records), and O(n log n) in the number of calls that count.
    public func rows(byArgument argument: String, of pattern: Pattern) throws(QueryError) -> Answer<SummedRows> {
        var layout = TreeLayout()
        layout.folds = false
        let calls = try CallsQuery(self, layout: layout)
        var values = ArgumentRows(argument, matches: functions.matching([pattern]))
        calls.walk(&values)
        guard values.calls > 0 else {
            guard values.others > 0 else {
                throw .noFunction(pattern.text, near: NearNames(to: pattern, in: functions))
            }
            let recorded = calls.selection.flatMap {
                $0.process.argumentLayouts.values.flatMap { $0.values.map(\.name) }
            }
            throw .noArgument(pattern.text, argument, near: NearNames(to: argument, among: recorded))
        }
        let without =
            values.others > 0 ? ["\(CountText.grouped(values.others)) calls have no such argument recorded"] : []
        return Answer(
            SummedRows(.values, values.rows, functions: functions).longEnough(for: filter), notes: without,
            warnings: calls.warnings, sessions: [session])
    }
}
