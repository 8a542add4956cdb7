internal import TraceFile

/// Collects the calls of one thread, or of a stretch of its chunks, as entries of rows.
///
/// Where a thread runs several stacks, the calls of one end as pieces where another goes on, and begin again as pieces where that
/// one does.
struct SummarySink: CallSink {
    struct Payload: BitwiseCopyable {
        /// The call's depth; of a base, one less than 0.
        var row: UInt32 = .max
        /// What tells its function.
        var function: UInt64 = 0
    }

    /// A call that is open where a stretch ends.
    struct Open: Equatable {
        var function: UInt64
        var begin: UInt64
    }

    var rows: SummaryRows
    /// Tells functions, if that takes more than their addresses.
    private(set) var keys = FunctionKeys()
    private let space: AddressSpace
    private let addressesChange: Bool
    /// When the stack that runs now began to run, of those of this thread.
    private var resumed: UInt64 = 0
    /// Whether the thread ran several stacks. What is open in those that a stretch does not begin with is not known then.
    private(set) var hasLanes = false
    /// The innermost open call at the last moment that was told, in memory that is the replay's.
    private var top: UnsafeMutablePointer<OpenCall<Payload>>?
    /// What is known of calls that are open at the beginning, outermost first, and how many of them are still to be entered.
    private let before: [Open]
    private var toCarryIn: UInt32
    /// The calls that are open at the end of the last chunk that was read, outermost first. No more than ``mostOpen``.
    private(set) var open: [Open] = []
    private let isLast: (Int) -> Bool
    private let onBegin: (inout SummarySink, Int) -> Void

    /// Deeper calls than this are not told where they span leaves.
    static let mostOpen = 4096

    /// - Parameters:
    ///   - carriedIn: how many calls are open at the beginning.
    ///   - before: what is known of them, where chunks do not list all.
    ///   - isLast: whether the open calls are to be known at the end of a chunk.
    ///   - onBegin: is told of the beginning of each chunk that is read.
    init(
        _ space: AddressSpace, shift: UInt64, carriedIn: UInt32 = 0, before: [Open] = [],
        isLast: @escaping (Int) -> Bool, onBegin: @escaping (inout SummarySink, Int) -> Void = { _, _ in }
    ) {
        self.space = space
        addressesChange = space.addressesChange
        rows = SummaryRows(shift: shift)
        toCarryIn = carriedIn
        self.before = before
        self.isLast = isLast
        self.onBegin = onBegin
    }

    func free() {
        rows.free()
        keys.free()
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let row = (call - 1).pointee.payload.row &+ 1
        call.pointee.payload.row = row
        rows.reserve(row)
        if toCarryIn > 0 { carryIn(call) }
        call.pointee.payload.function = call.pointee.function
        if addressesChange { tellFunction(call) }
    }

    @inline(never)
    private mutating func carryIn(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        toCarryIn -= 1
        let row = Int(call.pointee.payload.row)
        guard call.pointee.function == 0, row < before.count else { return }
        call.pointee.function = before[row].function
        call.pointee.start = before[row].begin
    }

    @inline(never)
    private mutating func tellFunction(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.function = UInt64(
            keys.number(call.pointee.function, space.epoch(at: call.pointee.enterTicks)))
    }

    /// The address of a function, and when it is meant.
    func key(_ function: UInt64) -> FunctionKeys.Key {
        addressesChange ? keys[UInt32(function)].pointee : FunctionKeys.Key(address: function, epoch: 0)
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        // What was entered before counts where it was entered, as in all sums.
        add(call, until: end, calls: call.pointee.isInherited ? 0 : 1)
    }

    @inline(__always)
    private mutating func add(_ call: UnsafeMutablePointer<OpenCall<Payload>>, until end: UInt64, calls: UInt32) {
        let begin = max(call.pointee.start, resumed), end = max(begin, end)
        rows.add(
            begin: begin, end: end, busy: end &- begin, function: call.pointee.payload.function, calls: calls,
            row: call.pointee.payload.row)
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}

    mutating func leave(_ call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64) {
        // A stack without calls may be gone when this is asked for.
        top = call.pointee.payload.row == .max ? nil : call
    }

    /// The calls of the stack that was left end as pieces.
    mutating func run(lane: UInt32, at moment: UInt64) {
        hasLanes = true
        if var call = top {
            while call.pointee.payload.row != .max {
                add(call, until: moment, calls: 0)
                call -= 1
            }
        }
        resumed = moment
    }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) { onBegin(&self, index) }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        if isLast(index) { noteOpen() }
        return true
    }

    mutating func forgetOpen() { open = [] }

    /// Notes the calls that were open when the last chunk that was read ended.
    mutating func noteOpen() {
        open = []
        guard var call = top else { return }
        let depth = Int(call.pointee.payload.row) + 1
        if depth > SummarySink.mostOpen { call -= depth - SummarySink.mostOpen }
        while call.pointee.payload.row != .max {
            open.append(
                Open(function: call.pointee.payload.function, begin: max(call.pointee.start, resumed)))
            call -= 1
        }
        open.reverse()
    }
}
