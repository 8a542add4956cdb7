internal import TraceFile

/// Adds up what lies below a function's calls that one thread makes, path by path: apart for the slowest and for the typical
/// ones, which is known at a call's end.
struct TailSink: CallSink {
    struct Payload: BitwiseCopyable {
        var role = OutermostCalls.Role.outside
        var node: UInt32 = 0
        var callees: UInt64 = 0
        /// What lies below the outermost call that this one is, or is below; nil outside of one.
        var pending: UnsafeMutablePointer<PendingCall>?
    }

    /// One of the slowest calls.
    struct SlowCall {
        var node: UInt32
        /// ns since the session's start, in the thread's own time.
        var start: UInt64
        /// ns.
        var duration: UInt64
        var isUnwound: Bool
        /// The last mark before the call, and when that was.
        var mark: (name: UInt32, moment: UInt64)?
        /// Which of `longPaths` are its.
        var longPaths: Range<Int>
    }

    private(set) var calls: OutermostCalls
    /// The call paths, from the function's calls on. Functions are numbers of `calls.keys`; there are no sums here.
    private(set) var table = CallPathTable()
    private(set) var slow = PathTimesList()
    private(set) var typical = PathTimesList()
    private(set) var slowCalls: [SlowCall] = []
    /// The paths that have the most own time in a slow call, and that time.
    private(set) var longPaths: [(node: UInt32, own: UInt64)] = []
    private(set) var typicalSum = CallSum()
    private(set) var slowSum = CallSum()
    /// Callees of the calls compared that the record options left out.
    private(set) var dropped = CallSum()
    private let selection: TailSelection
    /// How many more calls of the least duration of a slow one are slow.
    private var ties: UInt64
    private var lastMark: (name: UInt32, moment: UInt64)?
    private var unused: [UnsafeMutablePointer<PendingCall>] = []

    /// The most paths that are kept of a slow call.
    private static var mostLongPaths: Int { 4 }

    /// - Parameter ties: how many calls of the least duration of a slow one are slow here.
    init(_ calls: OutermostCalls, _ selection: TailSelection, ties: UInt64) {
        self.calls = calls
        self.selection = selection
        self.ties = ties
    }

    /// Frees everything; at the thread's end no call is pending.
    func free() {
        calls.free()
        table.free()
        slow.free()
        typical.free()
        for pending in unused {
            pending.pointee.free()
            pending.deallocate()
        }
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let caller = call - 1
        let key = calls.key(of: call)
        var role = OutermostCalls.Role.below
        var parent: UInt32 = 0
        var pending: UnsafeMutablePointer<PendingCall>?
        if caller.pointee.payload.role == .outside {
            role = calls.role(key)
            if role == .outermost { pending = begin() }
        } else {
            parent = caller.pointee.payload.node
            pending = caller.pointee.payload.pending
        }
        call.pointee.payload.role = role
        call.pointee.payload.node = role == .outside ? 0 : table.callee(of: parent, function: key)
        call.pointee.payload.callees = 0
        call.pointee.payload.pending = pending
    }

    @inline(never)
    private mutating func begin() -> UnsafeMutablePointer<PendingCall> {
        if let pending = unused.popLast() {
            pending.pointee.mark = lastMark
            return pending
        }
        let pending = UnsafeMutablePointer<PendingCall>.allocate(capacity: 1)
        pending.initialize(to: PendingCall())
        pending.pointee.mark = lastMark
        return pending
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        guard let pending = call.pointee.payload.pending else { return }
        let start = call.pointee.start
        let total = end > start ? end &- start : 0
        let callees = call.pointee.payload.callees
        (call - 1).pointee.payload.callees &+= total
        pending.pointee.add(
            total: total, own: total > callees ? total &- callees : 0, to: call.pointee.payload.node)
        if call.pointee.payload.role == .outermost { finish(call, pending, end: end, state: state) }
    }

    @inline(never)
    private mutating func finish(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ pending: UnsafeMutablePointer<PendingCall>, end: UInt64,
        state: CallState
    ) {
        if let duration = calls.duration(of: call, end: end, state: state) {
            if isSlow(duration) {
                keep(call, pending, duration, state)
                slowSum.add(CallSum(calls: 1, time: duration))
                dropped.add(pending.pointee.dropped)
                for node in pending.pointee.nodes { slow.place(node).pointee.add(pending.pointee.times[node]) }
            } else if selection.typical.contains(duration) {
                typicalSum.add(CallSum(calls: 1, time: duration))
                dropped.add(pending.pointee.dropped)
                for node in pending.pointee.nodes { typical.place(node).pointee.add(pending.pointee.times[node]) }
            }
        }
        pending.pointee.clear()
        unused.append(pending)
    }

    private mutating func isSlow(_ duration: UInt64) -> Bool {
        guard duration == selection.least, ties > 0 else { return duration > selection.least }
        ties -= 1
        return true
    }

    private mutating func keep(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ pending: UnsafeMutablePointer<PendingCall>,
        _ duration: UInt64, _ state: CallState
    ) {
        let first = longPaths.count
        for node in pending.pointee.nodes {
            let path = (node: node, own: pending.pointee.times[node].own)
            let place = longPaths[first...].firstIndex { $0.own < path.own } ?? longPaths.count
            guard place < first + TailSink.mostLongPaths else { continue }
            longPaths.insert(path, at: place)
            if longPaths.count > first + TailSink.mostLongPaths { longPaths.removeLast() }
        }
        slowCalls.append(
            SlowCall(
                node: call.pointee.payload.node, start: call.pointee.start, duration: duration,
                isUnwound: state == .unwound, mark: pending.pointee.mark, longPaths: first..<longPaths.count))
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        call.pointee.payload.pending?.pointee.dropped.add(CallSum(calls: UInt64(calls), time: time))
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if case .mark(let name) = told { lastMark = (name, moment) }
    }

    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
