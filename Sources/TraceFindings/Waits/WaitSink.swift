internal import TraceAnalysis
internal import TraceFile

/// Collects the waits of one thread, and what it did to end those of others.
struct WaitSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// Open calls below the lane's base, this one included.
        var depth: UInt32 = 0
        /// Index of the wait that the call is, or -1.
        var wait: Int32 = -1
    }

    private let thread: Int
    private let space: AddressSpace
    private let offCPU: OffCPU?
    /// Whether all waits are known from stretches without a CPU; otherwise, calls that wait tell of themselves.
    private let hasSwitches: Bool
    private var cursor: OffCPU.Cursor?
    private var nextStretch = 0
    /// When this thread woke another one, and which.
    private let wakings: ArraySlice<(time: UInt64, woken: UInt32)>
    private var nextWaking: Int
    private var recorded: [RecordedWait] = []
    private(set) var waits: [Wait] = []
    private(set) var wakes: [Wake] = []
    /// The thread's own number among its process's, and when it began; nil when that is not known.
    private(set) var beginning: (object: UInt64, moment: UInt64)?
    /// The last moment that is known of it.
    private(set) var last: UInt64 = 0
    var paths: WaitPaths

    init(
        _ thread: Int, _ space: AddressSpace, _ offCPU: OffCPU?, hasSwitches: Bool,
        wakings: ArraySlice<(time: UInt64, woken: UInt32)>, paths: WaitPaths
    ) {
        self.thread = thread
        self.wakings = wakings
        nextWaking = wakings.startIndex
        self.space = space
        self.offCPU = offCPU
        self.hasSwitches = hasSwitches
        self.paths = paths
        cursor = offCPU.map(OffCPU.Cursor.init)
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.depth = (call - 1).pointee.payload.depth &+ 1
        call.pointee.payload.wait = -1
        if hasSwitches { take(before: call.pointee.start, in: call - 1) }
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        last = max(last, end)
        if hasSwitches { take(before: end, in: call) }
        if call.pointee.payload.wait >= 0 { finish(Int(call.pointee.payload.wait), call.pointee.start, end) }
    }

    private mutating func finish(_ index: Int, _ begin: UInt64, _ end: UInt64) {
        waits[index].begin = begin
        waits[index].end = max(end, begin)
        if hasSwitches {
            let times = cursor?.times(from: begin, to: end) ?? OffCPUTimes()
            waits[index].time = times.blocked
        } else {
            waits[index].time = recorded[index].blocked(from: begin, to: end)
        }
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        switch told {
        case .wait(let wait): begin(wait, in: call)
        case .wake(let wake): self.wake(wake, in: call, at: moment)
        case .away(let time) where !hasSwitches && call.pointee.payload.depth > 0:
            recorded.append(RecordedWait())
            waits.append(
                Wait(
                    kind: .other, object: 0, descriptor: -1, path: path(of: call), thread: thread,
                    begin: moment - min(time, moment), end: moment, time: min(time, moment)))
        default: break
        }
    }

    private mutating func begin(_ wait: RecordedWait, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        guard call.pointee.payload.wait < 0, let kind = WaitKind(rawValue: wait.kind) else { return }
        call.pointee.payload.wait = Int32(waits.count)
        recorded.append(wait)
        waits.append(
            Wait(
                kind: .call(kind), object: wait.object, descriptor: wait.descriptor, name: wait.name,
                path: path(of: call), thread: thread, begin: call.pointee.start, end: call.pointee.start, time: 0))
    }

    private mutating func wake(
        _ wake: RecordedWait, in call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64
    ) {
        guard let kind = WaitKind(rawValue: wake.kind) else { return }
        last = max(last, moment)
        if kind == .beginning {
            if beginning == nil { beginning = (wake.object, moment) }
            return
        }
        let isLock = kind == .mutex || kind == .rwlock
        wakes.append(
            Wake(
                kind: kind, object: wake.object, path: path(of: call), thread: thread, moment: moment,
                held: isLock ? wake.held : nil))
    }

    /// What the kernel told of the time before `moment` belongs to `call`, which was the innermost until then.
    @inline(__always)
    private mutating func take(before moment: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        if nextWaking < wakings.endIndex, wakings[nextWaking].time < moment { takeWakings(before: moment, in: call) }
        guard let offCPU, nextStretch < offCPU.count, offCPU[nextStretch].begin < moment else { return }
        takeStretches(of: offCPU, before: moment, in: call)
    }

    /// The kernel tells of a waking when the wait is over; the thread was about to end it just before.
    @inline(never)
    private mutating func takeWakings(before moment: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        while nextWaking < wakings.endIndex, case let waking = wakings[nextWaking], waking.time < moment {
            nextWaking += 1
            wakes.append(
                Wake(
                    kind: nil, object: UInt64(waking.woken), path: path(of: call), thread: thread,
                    moment: max(waking.time, 1) - 1))
        }
    }

    /// A stretch without a CPU is a wait of its own, unless the call is one that tells of itself.
    @inline(never)
    private mutating func takeStretches(
        of offCPU: OffCPU, before moment: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>
    ) {
        while nextStretch < offCPU.count, case let stretch = offCPU[nextStretch], stretch.begin < moment {
            nextStretch += 1
            // Where no call was open, the stretch is left out, because it is in no call's total either.
            guard call.pointee.payload.depth > 0 else { continue }
            if call.pointee.payload.wait >= 0, !stretch.wantsCPU { continue }
            recorded.append(RecordedWait())
            waits.append(
                Wait(
                    kind: stretch.wantsCPU ? .cpu : .other, object: 0, descriptor: -1, path: path(of: call),
                    thread: thread, begin: stretch.begin, end: stretch.end, time: stretch.end &- stretch.begin))
        }
    }

    private mutating func path(of call: UnsafeMutablePointer<OpenCall<Payload>>) -> Int32 {
        let depth = Int(call.pointee.payload.depth)
        var path: Int32 = 0
        for level in stride(from: depth - 1, through: 0, by: -1) {
            let open = call - level
            path = paths.path(
                space.function(at: open.pointee.function, ticks: open.pointee.enterTicks), from: path)
        }
        return path
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
