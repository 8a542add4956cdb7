/// The part of a time in which a thread had no CPU, in ns. The rest is what it ran.
@frozen
public struct OffCPUTimes: BitwiseCopyable, Sendable, Equatable {
    /// It waited for something: a lock, another thread, a device, the end of a sleep. Once that was there, it also waited here
    /// for a CPU, where the kernel did not tell when it was woken, which it tells root alone.
    public var blocked: UInt64
    /// It was taken off its CPU although it would have gone on.
    public var runnable: UInt64

    @inlinable
    public init(blocked: UInt64 = 0, runnable: UInt64 = 0) {
        self.blocked = blocked
        self.runnable = runnable
    }

    @inlinable public var isZero: Bool { blocked | runnable == 0 }

    @inlinable
    public mutating func add(_ other: OffCPUTimes) {
        blocked &+= other.blocked
        runnable &+= other.runnable
    }

    /// What is left of it without `other`, which is a part of it.
    @inlinable
    public func without(_ other: OffCPUTimes) -> OffCPUTimes {
        OffCPUTimes(
            blocked: blocked > other.blocked ? blocked &- other.blocked : 0,
            runnable: runnable > other.runnable ? runnable &- other.runnable : 0)
    }

    /// No more than `total` in all, as where something was taken out of the time that it is a part of.
    @inlinable
    public func within(_ total: UInt64) -> OffCPUTimes {
        let blocked = min(self.blocked, total)
        return OffCPUTimes(blocked: blocked, runnable: min(runnable, total &- blocked))
    }
}
