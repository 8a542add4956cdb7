public import TraceFormat

/// How a call ended.
public enum CallState: UInt8, BitwiseCopyable, Sendable {
    /// By its exit.
    case complete
    /// Not before the recording did.
    case open
    /// By an exception, a longjmp, or unseen in a stretch that is lost.
    case unwound
}

/// A call on the stack while a thread is replayed.
@frozen
public struct OpenCall<Payload: BitwiseCopyable>: BitwiseCopyable {
    /// Address in memory; 0 when nothing is known of the call.
    public var function: UInt64
    public var callSite: UInt64
    /// By the session's clock.
    public var enterTicks: UInt64
    /// ns since the session's start, in the thread's own time: without what the tracer took of it.
    public var start: UInt64
    /// Entered in a fork's parent, or before recording was started: known only as context.
    public var isInherited: Bool
    /// What the sink keeps with the call.
    public var payload: Payload

    @inlinable
    public init(
        function: UInt64, callSite: UInt64, enterTicks: UInt64, start: UInt64, isInherited: Bool, payload: Payload
    ) {
        self.function = function
        self.callSite = callSite
        self.enterTicks = enterTicks
        self.start = start
        self.isInherited = isInherited
        self.payload = payload
    }
}

/// The open calls of one lane, in memory that stays where it is until it grows.
///
/// `base` is no call: it stands below depth 0 and is the caller of the calls there.
@frozen
public struct LaneStack<Payload: BitwiseCopyable> {
    public let lane: UInt32
    public var base: UnsafeMutablePointer<OpenCall<Payload>>
    /// The innermost open call, or `base`.
    public var top: UnsafeMutablePointer<OpenCall<Payload>>
    public var limit: UnsafeMutablePointer<OpenCall<Payload>>

    @inlinable
    public init(lane: UInt32, payload: Payload) {
        self.lane = lane
        base = .allocate(capacity: 16)
        top = base
        limit = base + 16
        base.initialize(
            to: OpenCall(function: 0, callSite: 0, enterTicks: 0, start: 0, isInherited: false, payload: payload))
    }

    @inlinable public var depth: Int { top - base }

    /// Doubles the room.
    @inlinable @inline(never)
    public mutating func grow() {
        let count = top - base + 1
        let capacity = (limit - base) * 2
        let larger = UnsafeMutablePointer<OpenCall<Payload>>.allocate(capacity: capacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        top = base + (count - 1)
        limit = base + capacity
    }

    @inlinable public func free() { base.deallocate() }
}

/// A moment that the program told of: a mark, or a counter's value.
@frozen
public struct ThreadEvent: BitwiseCopyable {
    /// Id among the names of the process.
    public var name: UInt32
    /// Of a counter; nil: a mark.
    public var value: Double?
    /// By the session's clock.
    public var ticks: UInt64
    /// ns since the session's start, in the thread's own time.
    public var moment: UInt64

    @inlinable
    public init(name: UInt32, value: Double?, ticks: UInt64, moment: UInt64) {
        self.name = name
        self.value = value
        self.ticks = ticks
        self.moment = moment
    }
}

/// Receives the calls of one thread as they are replayed.
///
/// Calls are passed as pointers into the replayed stack, valid during the callback; `call - 1` is the caller, and the
/// pointer below the outermost call is the lane's base. Times are ns since the session's start, in the
/// thread's own time: the tracer's time at chunk switches is in none of them.
public protocol CallSink {
    associatedtype Payload: BitwiseCopyable

    /// The payload of the base of `lane`.
    mutating func base(ofLane lane: UInt32) -> Payload
    /// `call` was entered; its payload is to be set here.
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>)
    /// `call` ended.
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState)
    /// Callees of `call` were left out by the record options.
    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64)
    /// Something happened while `call`, or nothing above a lane's base, was the innermost call.
    mutating func event(_ event: ThreadEvent, in call: UnsafeMutablePointer<OpenCall<Payload>>)
    /// The next call is a piece of a Swift task.
    mutating func begin(piece: TaskPiece, at moment: UInt64)
    /// The calls that follow are of `lane`.
    mutating func run(lane: UInt32, at moment: UInt64)
    /// A chunk begins. `afterGap`: the calls before it are not all known.
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool)
    /// A chunk ended; `main` is the stack of lane 0. Returns whether to go on.
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool
}

extension CallSink {
    @inlinable
    public mutating func event(_ event: ThreadEvent, in call: UnsafeMutablePointer<OpenCall<Payload>>) {}
    @inlinable public mutating func begin(piece: TaskPiece, at moment: UInt64) {}
}
