internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// A thread that looks into the kernel's rings whenever one is a quarter full, and after ``pause`` in any case.
///
/// If this process is killed, what is still in the rings is lost: that of the last ``pause`` ms at most.
final class RingThread: @unchecked Sendable {
    private let look: () -> Void
    private let waits: (_ milliseconds: Int32, _ wake: Int32) -> Void
    private let yields: Bool
    private var thread: BackgroundThread?
    private var isStopping: UInt32 = 0
    /// Written to when the thread is to look at once.
    private let waker = fathom_wake_descriptor()

    /// How long events stay in the rings at most, in ms.
    private static let pause: Int32 = 100

    /// - Parameters:
    ///   - yields: whether it does not interrupt the program when it wakes, as the drain.
    ///   - waits: waits for the rings, or until `wake` can be read.
    ///   - look: empties the rings. Only this thread calls it.
    init(
        yields: Bool = true, waits: @escaping (_ milliseconds: Int32, _ wake: Int32) -> Void,
        look: @escaping () -> Void
    ) {
        (self.yields, self.waits, self.look) = (yields, waits, look)
    }

    deinit { close(waker) }

    var isStoppingNow: Bool { fathom_load32(&isStopping) != 0 }

    func start() {
        fathom_store32(&isStopping, 0)
        thread = BackgroundThread { [self] in
            if yields { fathom_yield_to_others(500_000) }
            while !isStoppingNow {
                waits(Self.pause, waker)
                look()
            }
        }
    }

    /// Ends the thread, which may be started again.
    func stop() {
        fathom_store32(&isStopping, 1)
        var one: UInt64 = 1
        _ = write(waker, &one, MemoryLayout<UInt64>.size)
        thread?.join()
        thread = nil
        var told: UInt64 = 0
        _ = read(waker, &told, MemoryLayout<UInt64>.size)
    }
}
