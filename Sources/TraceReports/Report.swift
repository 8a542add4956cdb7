public import TraceAnalysis
internal import TraceFormat
public import TraceText

/// A table of what calls add up to, sorted and ready to be written.
public struct Report {
    /// What the rows are, as JSON names their list.
    public enum Kind: String, Sendable {
        case functions, paths, files, modules, threads, callers, callees
    }

    public enum Format: String, CaseIterable, Sendable { case text, json, csv }

    let kind: Kind
    let rows: [AggregateRow]
    /// Rows beyond the limit.
    let moreRows: Int
    let tree: CallPathTree

    /// - Parameters:
    ///   - tree: where the rows come from.
    ///   - minCost: rows of less total time are left out, in ns.
    ///   - limit: rows to show.
    public init(
        _ kind: Kind, _ rows: [AggregateRow], of tree: CallPathTree, order: ReportOrder = .number(.total),
        minCost: UInt64 = 0, limit: Int = .max
    ) {
        self.kind = kind
        self.tree = tree
        let kept = Report.sort(rows.filter { $0.total >= minCost }, order, tree)
        self.rows = Array(kept.prefix(limit))
        moreRows = kept.count - self.rows.count
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .csv: writeCSV(to: writer)
        }
    }

    // MARK: Subjects

    /// The function a row is of; of a path, the innermost.
    func function(of row: AggregateRow) -> ResolvedFunction? { Report.function(of: row, tree) }

    /// A row's name in one piece.
    func name(of row: AggregateRow, separator: String) -> String { Report.name(of: row, tree, separator: separator) }

    /// Names of the functions of a path, the root's first.
    func names(ofPath index: Int) -> [String] { Report.names(ofPath: index, tree) }

    private static func function(of row: AggregateRow, _ tree: CallPathTree) -> ResolvedFunction? {
        switch row.subject {
        case .function(let id): tree.functions[id]
        case .path(let index): tree.functions[tree.paths[index].function]
        case .place, .thread: nil
        }
    }

    private static func name(of row: AggregateRow, _ tree: CallPathTree, separator: String) -> String {
        switch row.subject {
        case .function(let id): tree.functions[id].name
        case .path(let index): names(ofPath: index, tree).joined(separator: separator)
        case .place(let place): place ?? "?"
        case .thread(let thread):
            "\(thread.process.pid) \(thread.process.programName) · "
                + (thread.task != nil ? "" : thread.name.isEmpty ? "\(thread.tid)" : "\(thread.tid) ") + thread.name
        }
    }

    private static func names(ofPath index: Int, _ tree: CallPathTree) -> [String] {
        var names: [String] = []
        var path = index
        while path >= 0 {
            names.append(tree.functions[tree.paths[path].function].name)
            path = Int(tree.paths[path].parent)
        }
        return names.reversed()
    }

    // MARK: Order

    /// Rows that compare equal stay in the order they came in, which is that of the recording.
    private static func sort(_ rows: [AggregateRow], _ order: ReportOrder, _ tree: CallPathTree) -> [AggregateRow] {
        func sorted<Key: Comparable>(_ key: (AggregateRow) -> Key, by isBefore: (Key, Key) -> Bool) -> [AggregateRow] {
            let keys = rows.map(key)
            return rows.indices.sorted {
                isBefore(keys[$0], keys[$1]) || (!isBefore(keys[$1], keys[$0]) && $0 < $1)
            }.map { rows[$0] }
        }
        switch order {
        case .number(let column): return sorted(column.value, by: >)
        case .name: return sorted({ name(of: $0, tree, separator: ";") }, by: <)
        case .module: return sorted({ function(of: $0, tree)?.module ?? "" }, by: <)
        case .location:
            return sorted(
                { row in
                    guard let function = function(of: row, tree), let file = function.file else { return "" }
                    // Lines count up like text when they are equally long.
                    let line = String(function.line)
                    return file + ":" + String(repeating: "0", count: max(0, 9 - line.utf8.count)) + line
                }, by: <)
        }
    }
}
