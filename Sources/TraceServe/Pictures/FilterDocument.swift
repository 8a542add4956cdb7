internal import TraceAnalysis
internal import TraceText

/// What a filter says of functions, and of all calls.
enum FilterDocument {
    /// - Parameter first: the number of the first function that is told.
    static func bytes(of filter: TreeFilter, _ table: FunctionTable, from first: Int) -> [UInt8] {
        jsonBytes { json in
            json.object {
                json.field("marks", table.marks(by: filter, from: first).map(Int.init))
                json.field("minCost", filter.minCost)
                json.field("maxDepth", filter.maxDepth)
                json.field("hasOnly", !filter.only.isEmpty)
                json.field("leads", !filter.leadingTo.isEmpty)
                json.field("hasLimits", !filter.triggers.isEmpty)
            }
        }
    }
}
