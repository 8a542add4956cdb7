internal import ArgumentParser
internal import TraceFile
internal import TraceQuery
internal import TraceReports

/// What a tree shows of what calls did with memory.
struct MemoryOptions: ParsableArguments {
    enum Memory: String, ExpressibleByArgument, CaseIterable { case allocs, bytes, all }
    enum Faults: String, ExpressibleByArgument, CaseIterable { case minor, major, all }

    @Option(
        help: ArgumentHelp(
            "Show what each call and its callees allocated: the number of blocks, their bytes, or both: allocs, bytes or all.",
            valueName: "what"))
    var memory: Memory?

    @Option(
        help: ArgumentHelp(
            "Show the page faults of each call and its callees: minor, major (the page was read) or all.",
            valueName: "what"))
    var faults: Faults?

    /// The columns that were asked for. Bad wishes are thrown: what `session` does not know.
    ///
    /// - Parameter everything: whether all that is known is shown, asked for or not.
    func columns(of session: Session, everything: Bool) throws(QueryError) -> [MemoryColumn] {
        if memory != nil { try session.requireMemory() }
        if faults != nil { try session.requireFaults() }
        return MemoryColumn.allCases.filter { column in
            if everything { return column.isOfFaults ? session.faults != nil : session.tellsMemory }
            let wish = column.isOfFaults ? faults?.rawValue : memory?.rawValue
            return wish == "all" || wish == column.rawValue
        }
    }
}
