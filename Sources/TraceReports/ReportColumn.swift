internal import TraceAnalysis

/// The numbers of a report's row, as every format shows them. Times in ns.
public enum ReportColumn: String, CaseIterable, Sendable {
    case calls
    case total
    case `self`
    case inherited
    case inheritedCalls = "inherited_calls"
    case suspended
    case average = "avg"
    case minimum = "min"
    case maximum = "max"
    case p50, p90, p99

    /// Its name in JSON and CSV.
    var key: String { self == .calls || self == .inheritedCalls ? rawValue : rawValue + "_ns" }

    func value(of row: AggregateRow) -> UInt64 {
        switch self {
        case .calls: row.calls
        case .total: row.total
        case .self: row.selfTime
        case .inherited: row.inherited
        case .inheritedCalls: row.inheritedCalls
        case .suspended: row.suspended
        case .average: row.average
        case .minimum: row.minimum
        case .maximum: row.maximum
        case .p50: row.percentiles.p50
        case .p90: row.percentiles.p90
        case .p99: row.percentiles.p99
        }
    }
}

/// What a report is sorted by: numbers the greatest first, text in its alphabetical order.
public enum ReportOrder: RawRepresentable, CaseIterable, Sendable {
    case number(ReportColumn)
    case name, module, location

    public static var allCases: [ReportOrder] { ReportColumn.allCases.map(number) + [.name, .module, .location] }

    public init?(rawValue: String) {
        guard let order = ReportOrder.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = order
    }

    /// Whether a row's place depends on its percentiles.
    var needsPercentiles: Bool {
        switch self {
        case .number(.p50), .number(.p90), .number(.p99): true
        default: false
        }
    }

    public var rawValue: String {
        switch self {
        case .number(let column): column.rawValue
        case .name: "name"
        case .module: "module"
        case .location: "location"
        }
    }
}
