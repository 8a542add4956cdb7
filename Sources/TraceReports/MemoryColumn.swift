internal import TraceAnalysis

/// What calls did with memory, as a tree shows it.
public enum MemoryColumn: String, CaseIterable, Sendable {
    case allocations = "allocs"
    case bytes
    case minorFaults = "minor"
    case majorFaults = "major"

    public var isOfFaults: Bool { self == .minorFaults || self == .majorFaults }

    /// Its name in JSON.
    var key: StaticString {
        switch self {
        case .allocations: "allocations"
        case .bytes: "allocated_bytes"
        case .minorFaults: "minor_faults"
        case .majorFaults: "major_faults"
        }
    }

    func value(of sums: MemorySums) -> UInt64 {
        switch self {
        case .allocations: sums.allocations
        case .bytes: sums.bytes
        case .minorFaults: sums.minorFaults
        case .majorFaults: sums.majorFaults
        }
    }
}
