public import TraceFile

/// Which part of the time of a call.
public enum TimeKind: Sendable {
    case total
    /// On a CPU.
    case running
    case blocked
    case runnable

    /// That part of `total`, in ns.
    @inlinable
    public func part(of total: UInt64, _ offCPU: OffCPUTimes) -> UInt64 {
        switch self {
        case .total: total
        case .running: total &- offCPU.blocked &- offCPU.runnable
        case .blocked: offCPU.blocked
        case .runnable: offCPU.runnable
        }
    }
}
