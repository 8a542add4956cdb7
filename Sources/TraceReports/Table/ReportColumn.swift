public import TraceAnalysis
internal import TraceFile

/// The numbers of a report's row, as every format shows them. Times in ns.
public enum ReportColumn: String, CaseIterable, Sendable {
    case calls
    case total
    case `self`
    case running, blocked, runnable
    case inherited
    case inheritedCalls = "inherited_calls"
    case suspended
    case average = "avg"
    case minimum = "min"
    case maximum = "max"
    case p50, p90, p99
    case allocations = "allocs"
    case bytes
    case selfBytes = "own_bytes"
    case live
    case selfLive = "own_live"
    case liveBlocks = "live_blocks"
    case minorFaults = "minor"
    case selfMinorFaults = "own_minor"
    case majorFaults = "major"
    case selfMajorFaults = "own_major"

    /// Those of memory.
    static let ofMemory: Set<ReportColumn> = [.allocations, .bytes, .selfBytes, .live, .selfLive, .liveBlocks]

    public var isOfMemory: Bool { ReportColumn.ofMemory.contains(self) }

    /// Those of page faults.
    static let ofFaults: Set<ReportColumn> = [.minorFaults, .selfMinorFaults, .majorFaults, .selfMajorFaults]

    public var isOfFaults: Bool { ReportColumn.ofFaults.contains(self) }

    /// What a row's number is.
    enum Unit { case count, bytes, time }

    var unit: Unit {
        switch self {
        case .calls, .inheritedCalls, .allocations, .liveBlocks: .count
        case _ where isOfFaults: .count
        case _ where isOfMemory: .bytes
        default: .time
        }
    }

    /// Those that may give way to names, the first one first.
    static let firstToGo: [ReportColumn] = [
        .liveBlocks,
        .p50, .p90, .minimum, .maximum, .p99, .suspended, .inherited, .average,
    ]

    /// Those that give way after these, only where names would have no room at all.
    static let lastToGo: [ReportColumn] = [
        .selfLive, .selfMajorFaults, .selfMinorFaults, .selfBytes, .live, .majorFaults, .allocations, .minorFaults,
        .bytes,
        .runnable, .running, .blocked,
    ]

    /// The part of a row's total that it shows; nil for other numbers.
    public var part: TimeKind? {
        switch self {
        case .running: .running
        case .blocked: .blocked
        case .runnable: .runnable
        default: nil
        }
    }

    /// Its name in JSON and CSV.
    var key: String {
        switch self {
        case .calls, .inheritedCalls, .liveBlocks: rawValue
        case .allocations: "allocations"
        case .bytes: "allocated_bytes"
        case .selfBytes: "own_allocated_bytes"
        case .live: "live_bytes"
        case .selfLive: "own_live_bytes"
        case .minorFaults, .selfMinorFaults, .majorFaults, .selfMajorFaults: rawValue + "_faults"
        default: rawValue + "_ns"
        }
    }

    func value(of row: AggregateRow) -> UInt64 {
        switch self {
        case .calls: row.calls
        case .total: row.total
        case .self: row.selfTime
        case .running: TimeKind.running.part(of: row.total, row.offCPU)
        case .blocked: row.offCPU.blocked
        case .runnable: row.offCPU.runnable
        case .inherited: row.inherited
        case .inheritedCalls: row.inheritedCalls
        case .suspended: row.suspended
        case .average: row.average
        case .minimum: row.minimum
        case .maximum: row.maximum
        case .p50: row.percentiles.p50
        case .p90: row.percentiles.p90
        case .p99: row.percentiles.p99
        case .allocations: row.memory.allocations
        case .bytes: row.memory.bytes
        case .selfBytes: row.selfMemory.bytes
        case .live: row.memory.live
        case .selfLive: row.selfMemory.live
        case .liveBlocks: row.memory.liveBlocks
        case .minorFaults: row.memory.minorFaults
        case .selfMinorFaults: row.selfMemory.minorFaults
        case .majorFaults: row.memory.majorFaults
        case .selfMajorFaults: row.selfMemory.majorFaults
        }
    }
}
