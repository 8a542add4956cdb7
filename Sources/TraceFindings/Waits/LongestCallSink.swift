public import TraceAnalysis
public import TraceFile

/// Finds the longest call of some functions in one thread, and when the thread's first call began.
struct LongestCallSink: CallSink {
    struct Payload {
        var isAsked = false
        /// Whether the call is a piece of a task, which may go on in another call.
        var isPiece = false
    }

    private let space: AddressSpace
    private let isAsked: (UInt32) -> Bool
    private(set) var longest: (begin: UInt64, end: UInt64, isPiece: Bool)?
    private(set) var first = UInt64.max
    /// Whether the next call is a piece of a task.
    private var isPiece = false

    init(_ space: AddressSpace, isAsked: @escaping (UInt32) -> Bool) {
        self.space = space
        self.isAsked = isAsked
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    mutating func begin(piece: TaskPiece, at moment: UInt64) { isPiece = true }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        first = min(first, call.pointee.start)
        call.pointee.payload = Payload(
            isAsked: isAsked(space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)),
            isPiece: isPiece)
        isPiece = false
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        guard call.pointee.payload.isAsked, end > call.pointee.start else { return }
        if let longest, longest.end - longest.begin >= end - call.pointee.start { return }
        longest = (call.pointee.start, end, call.pointee.payload.isPiece)
    }

    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64)
    {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}

/// When threads began, and the longest call of some functions.
public struct LongestCall {
    /// By thread: when its first call began; `.max` without one.
    public private(set) var firsts: [UInt64] = []
    /// Index of its thread, and its time; nil when there is none.
    public private(set) var call: (thread: Int, begin: UInt64, end: UInt64)?
    /// Whether it is a piece of a task, which may go on in another call.
    public private(set) var isPiece = false

    /// - Parameters:
    ///   - isCandidate: whether a thread's calls are looked at.
    ///   - isAsked: whether a function's calls are.
    /// - Complexity: O(records).
    public init(
        in threads: [TracedThread], session: Session, resolver: FunctionResolver,
        isCandidate: (TracedThread) -> Bool, isAsked: @escaping (UInt32) -> Bool
    ) {
        for (index, thread) in threads.enumerated() {
            var sink = LongestCallSink(
                resolver.space(of: thread.process), isAsked: isCandidate(thread) ? isAsked : { _ in false })
            StackReplay.run(thread.onSharedClock, clock: session.clock, into: &sink)
            firsts.append(sink.first)
            guard let longest = sink.longest else { continue }
            if let call, call.end - call.begin >= longest.end - longest.begin { continue }
            call = (index, longest.begin, longest.end)
            isPiece = longest.isPiece
        }
    }
}
