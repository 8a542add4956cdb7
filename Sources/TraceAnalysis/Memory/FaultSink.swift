internal import TraceFile

/// Tells another sink of a thread's page faults as well, each in the call that was the innermost one at its moment, as of
/// something that happened to memory.
///
/// The kernel tells of them by the clock that all threads share. Those that came while the tracer changed buffers, or while calls
/// were lost, are in no call, and neither are those from before the thread's first call.
///
/// Records tell which lane runs, but not since when. So what came between the last record of one lane and the first of another is
/// the call's that was left, if there was one.
///
/// - Complexity: O(1) a call besides the other sink's, and O(log chunks) a page fault.
struct FaultSink<Inner: CallSink>: CallSink {
    typealias Payload = Inner.Payload
    typealias Call = UnsafeMutablePointer<OpenCall<Payload>>

    private(set) var inner: Inner
    private let thread: TracedThread
    private let clock: Clock
    private let faults: [PageFault]
    private var place = 0
    /// When the next page fault was, in the thread's own time; `.max` when none is left.
    private var next: UInt64 = .max
    /// The lanes that ran, one after the other, since the last record of a call. The other sink is told of them when it is known
    /// what came before.
    private var runs: [(lane: UInt32, moment: UInt64)] = []
    /// The innermost call of the lane that ran before these; nil when there was none.
    private var left: Call?
    /// Where the latest of these was when it was left in turn.
    private var reached: (moment: UInt64, call: Call)?

    /// - Parameters:
    ///   - faults: of `thread`, in the order of time.
    ///   - clock: by which the thread is replayed.
    init(_ inner: Inner, _ faults: [PageFault], of thread: TracedThread, clock: Clock) {
        self.inner = inner
        self.thread = thread
        self.clock = clock
        self.faults = faults
    }

    private mutating func moveOn(to place: Int) {
        self.place = place
        guard place < faults.count else { return next = .max }
        let ticks = faults[place].ticks, taken = thread.tracerTicks(upTo: ticks)
        next = clock.nanoseconds(at: ticks > taken ? ticks &- taken : 0)
    }

    private func isBase(_ call: Call) -> Bool { call.pointee.function == 0 && call.pointee.enterTicks == 0 }

    /// Until `moment`, `call` was the innermost one, or that which was left was.
    @inline(__always)
    private mutating func pass(until moment: UInt64, in call: Call) {
        if next <= moment || !runs.isEmpty { passAll(until: moment, in: call) }
    }

    @inline(never)
    private mutating func passAll(until moment: UInt64, in call: Call) {
        if let left, !runs.isEmpty { passFaults(until: moment, in: left) }
        tellRuns()
        passFaults(until: moment, in: call)
    }

    private mutating func passFaults(until moment: UInt64, in call: Call) {
        let isBase = isBase(call)
        while next <= moment, place < faults.count {
            if !isBase { inner.tell(.memory(faults[place].block), in: call, ticks: faults[place].ticks, at: next) }
            moveOn(to: place + 1)
        }
    }

    private mutating func tellRuns() {
        for run in runs { inner.run(lane: run.lane, at: run.moment) }
        runs.removeAll(keepingCapacity: true)
    }

    // MARK: CallSink

    mutating func enter(_ call: Call) {
        pass(until: call.pointee.start, in: call - 1)
        inner.enter(call)
    }

    mutating func exit(_ call: Call, end: UInt64, state: CallState) {
        pass(until: end, in: call)
        inner.exit(call, end: end, state: state)
    }

    mutating func leave(_ call: Call, at moment: UInt64) {
        reached = (moment, call)
        guard runs.isEmpty else { return }
        pass(until: moment, in: call)
        left = isBase(call) ? nil : call
    }

    mutating func run(lane: UInt32, at moment: UInt64) { runs.append((lane, moment)) }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        if let reached { pass(until: reached.moment, in: reached.call) }
        reached = nil
        return inner.end(chunk: index, main: main)
    }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        let begin = thread.chunks[index].beginTicks
        let rest = faults[place...]
        if let first = rest.first, first.ticks < begin || next == .max {
            moveOn(to: rest.partitioningIndex { $0.ticks >= begin })
        }
        tellRuns()
        inner.begin(chunk: index, at: moment, afterGap: afterGap)
    }

    mutating func base(ofLane lane: UInt32) -> Payload { inner.base(ofLane: lane) }
    mutating func begin(piece: TaskPiece, at moment: UInt64) { inner.begin(piece: piece, at: moment) }

    mutating func drop(_ call: Call, calls: UInt32, time: UInt64, at moment: UInt64) {
        pass(until: moment, in: call)
        inner.drop(call, calls: calls, time: time, at: moment)
    }

    mutating func tell(_ told: Told, in call: Call, ticks: UInt64, at moment: UInt64) {
        pass(until: moment, in: call)
        inner.tell(told, in: call, ticks: ticks, at: moment)
    }
}

extension StackReplay {
    /// The same as ``run(_:clock:chunks:onChunk:into:)``; where page faults are known, the sink is told of them as well, by
    /// ``CallSink/tell(_:in:ticks:at:)``.
    static func runWithFaults(
        _ thread: TracedThread, clock: Clock, chunks: Range<Int>? = nil, onChunk: ((Int) -> Void)? = nil,
        into sink: inout Sink
    ) {
        guard let faults = thread.faults(), !faults.isEmpty else {
            return run(thread, clock: clock, chunks: chunks, onChunk: onChunk, into: &sink)
        }
        var both = FaultSink(sink, faults, of: thread, clock: clock)
        StackReplay<FaultSink<Sink>>.run(thread, clock: clock, chunks: chunks, onChunk: onChunk, into: &both)
        sink = both.inner
    }
}
