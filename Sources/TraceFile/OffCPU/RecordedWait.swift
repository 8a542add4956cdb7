public import CTraceFormat

/// A wait, or what ends one, as it was recorded.
@frozen
public struct RecordedWait: BitwiseCopyable, Sendable {
    /// The number of its ``WaitKind``; another one is of a later version.
    public var kind: UInt16
    /// Which descriptor, or -1.
    public var descriptor: Int16
    /// The ns within the wait in which the thread had a CPU; `.max` when that was not asked for.
    public var ran: UInt32
    /// What is waited for: an address in the process, or a number of the kernel's; 0: nothing that has a name.
    public var object: UInt64
    /// The id of the name of what is behind the descriptor, among the process's; 0: none is known.
    public var name: UInt32

    @inlinable
    public init() { (kind, descriptor, ran, object, name) = (0, -1, .max, 0, 0) }

    /// The ns for which the lock was held, where this ends a wait for a lock; nil when that is not known.
    public var held: UInt64? { ran == .max ? nil : fathom_held_ns(ran) }

    /// Whether room to write was waited for.
    public static func isForRoom(_ object: UInt64) -> Bool { object & FATHOM_WAIT_ROOM != 0 }

    public init(_ wait: fathom_wait) {
        kind = wait.kind
        descriptor = wait.descriptor
        ran = wait.ran_ns
        object = wait.object
        name = 0
    }

    /// The time of a wait from `begin` to `end` in which the thread waited, as far as it is known from the wait itself.
    public func blocked(from begin: UInt64, to end: UInt64) -> UInt64 {
        guard end > begin else { return 0 }
        return ran == .max ? end &- begin : (end &- begin) - min(UInt64(ran), end &- begin)
    }
}
