public import TraceFile

/// Receives the calls of one thread as they are replayed.
///
/// Calls are passed as pointers into the replayed stack, valid during the callback; `call - 1` is the caller, and the
/// pointer below the outermost call is the lane's base. Times are ns since the session's start, in the thread's own
/// time, which leaves out the tracer's time at chunk switches.
public protocol CallSink {
    associatedtype Payload: BitwiseCopyable

    /// The payload of the base of `lane`.
    mutating func base(ofLane lane: UInt32) -> Payload
    /// `call` was entered; its payload is to be set here.
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>)
    /// `call` ended.
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState)
    /// The record options left out callees of `call`.
    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64)
    /// Something was told while `call` was the innermost call, or while only a lane's base was there. `ticks` is when, by the
    /// session's clock.
    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64)
    /// The next call is a piece of a Swift task.
    mutating func begin(piece: TaskPiece, at moment: UInt64)
    /// Until `moment`, `call` was the innermost call, or only a lane's base was there. The chunk ends, or another lane runs next.
    mutating func leave(_ call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64)
    /// The calls that follow are of `lane`.
    mutating func run(lane: UInt32, at moment: UInt64)
    /// Calls below `call`, or below a lane's base, began and ended in a chunk that was not read: so many, the outermost of which
    /// took so long in all, in ns.
    mutating func skip(calls: UInt64, time: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>)
    /// Begins a chunk. With `afterGap`, not all of the calls before it are known.
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool)
    /// A chunk ended; `main` is the stack of lane 0. Returns whether to go on.
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool
}

extension CallSink {
    @inlinable
    public mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {}
    @inlinable public mutating func leave(_ call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64) {}
    @inlinable
    public mutating func skip(calls: UInt64, time: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>) {}
    @inlinable public mutating func begin(piece: TaskPiece, at moment: UInt64) {}
}
