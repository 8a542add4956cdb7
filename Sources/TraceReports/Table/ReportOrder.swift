public import TraceAnalysis

/// What a report is sorted by: numbers the greatest first, text in its alphabetical order.
public enum ReportOrder: RawRepresentable, CaseIterable, Sendable {
    case number(ReportColumn)
    case name, module, location

    public static var allCases: [ReportOrder] { ReportColumn.allCases.map(number) + [.name, .module, .location] }

    public init?(rawValue: String) {
        guard let order = ReportOrder.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = order
    }

    /// The part of times that it sorts by, if it is one.
    public var part: TimeKind? {
        if case .number(let column) = self { column.part } else { nil }
    }

    /// Whether it sorts by memory.
    public var isOfMemory: Bool {
        if case .number(let column) = self { column.isOfMemory } else { false }
    }

    /// Whether it sorts by page faults.
    public var isOfFaults: Bool {
        if case .number(let column) = self { column.isOfFaults } else { false }
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
