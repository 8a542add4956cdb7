internal import TraceAnalysis
internal import TraceText

/// The functions that pictures have numbers for.
enum FunctionsDocument {
    /// - Parameter first: the number of the first function that is told.
    static func bytes(of table: FunctionTable, from first: Int) -> [UInt8] {
        let functions = (min(first, table.functions.count)..<table.functions.count).map { table[UInt32($0)] }
        return jsonBytes { json in
            json.object {
                json.field("from", first)
                json.field("names", functions.map(\.name))
                json.array("modules", functions) { json.value($0.module) }
                json.array("files", functions) { json.value($0.file) }
                json.field("lines", functions.map { max($0.line, 0) })
            }
        }
    }
}
