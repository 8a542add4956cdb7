internal import CThreadStop
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// How long threads of another process have stood still for us, and which of them were asked to stop and have not yet.
final class Standstills {
    /// The longest time in ns that a thread stood still.
    private(set) var longest: UInt64 = 0
    private var late: Set<Int32> = []

    /// The longest that anything may stand still, in ns, and how much of it threads have to stop.
    static let limit: UInt64 = 100_000_000
    static let patience: UInt64 = 40_000_000

    /// In ns.
    static var now: UInt64 { SystemClock.monotonic }

    /// - Parameter begin: when it was asked to stop.
    func add(since begin: UInt64) { longest = max(longest, Self.now - begin) }

    /// A thread has not stopped in time. It will stop when it is back from the kernel.
    func add(late tid: Int32) { late.insert(tid) }

    /// Lets those go that have stopped since. Call this often: until then they stand still.
    func release() {
        late = late.filter { tid in
            var signal: Int32 = 0
            let state = fathom_stop_look(tid, &signal)
            if state > 0 { fathom_stop_end(tid, signal) }
            return state == 0
        }
    }

    func isLate(_ tid: Int32) -> Bool { late.contains(tid) }
    /// One that has not stopped.
    var lateThread: Int32? { late.min() }
}
