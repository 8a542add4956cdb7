internal import TraceAnalysis

/// The order of the callees of one path.
enum TreeOrder: Equatable {
    case column(ScreenColumn)
    case name
    /// As their first calls began.
    case time

    /// Returns the orders that the key `s` goes through.
    static func all(_ columns: [ScreenColumn]) -> [TreeOrder] { columns.map(column) + [.name, .time] }

    var text: String {
        switch self {
        case .column(let column): column.rawValue
        case .name: "name"
        case .time: "time"
        }
    }

    var column: ScreenColumn? {
        if case .column(let column) = self { column } else { nil }
    }

    /// The paths of `siblings`, which are in the order of time, in this order. Equal ones stay as they are.
    func sorted(_ siblings: [Int], of tree: CallPathTree, _ rows: PathRows, _ numbers: ScreenNumbers) -> [Int] {
        guard siblings.count > 1 else { return siblings }
        func sorted<Key: Comparable>(_ keys: [Key], _ isBefore: (Key, Key) -> Bool) -> [Int] {
            siblings.indices.sorted {
                isBefore(keys[$0], keys[$1]) || (!isBefore(keys[$1], keys[$0]) && $0 < $1)
            }.map { siblings[$0] }
        }
        switch self {
        case .time: return siblings
        case .name: return sorted(siblings.map { tree.functions[tree.paths[$0].function].name }, <)
        case .column(.total), .column(.share), .column(.now):
            return sorted(siblings.map { tree.paths[$0].sums.total }, >)
        case .column(let column):
            let values = siblings.map {
                column.value(of: rows.row($0, percentiles: column.needsPercentiles), numbers)
            }
            return sorted(values, >)
        }
    }
}
