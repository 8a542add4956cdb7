internal import TraceFile

/// Adds up the calls of one thread, or of a stretch of its chunks, by call path, as they are replayed.
///
/// Here, functions are numbers of addresses in memory. What function each is gets asked once, when the thread is
/// through.
struct CallPathSink: CallSink {
    struct Payload: BitwiseCopyable {
        var node: UInt32 = 0
        /// Whether the call was open where the stretch begins.
        var isCarried = false
        var callees: UInt64 = 0
        var dropped = CallSum()
    }

    /// A call that is open where one stretch ends and the next begins.
    struct CarriedCall {
        var call: OpenCall<Payload>
        /// Whether it ended within the stretch, and within the stretch of time asked for.
        var hasEnded = false
        var isCounted = false

        func isSame(as other: CarriedCall) -> Bool {
            call.function == other.call.function && call.enterTicks == other.call.enterTicks
                && call.start == other.call.start && call.isInherited == other.call.isInherited
        }
    }

    var table = CallPathTable()
    var keys = FunctionKeys()
    /// Where calls were made, with the epochs of their functions, if calls from there count by themselves: then the epochs of
    /// ``keys`` are numbers of these.
    private(set) var sites: FunctionKeys?
    private(set) var space: AddressSpace
    /// Whether a function's address does not tell its key.
    private var keysDiffer: Bool
    private let from: UInt64
    private let to: UInt64
    /// What of a call's time counts.
    private let counted: ClosedRange<UInt64>
    /// Calls open at the beginning, outermost first. Of those that are still to be entered only the number is known.
    private(set) var carriedIn: [CarriedCall] = []
    private var toCarryIn: UInt32
    private var openOfCarriedIn = 0
    /// Calls open at the end.
    private(set) var carriedOut: [CarriedCall] = []
    private let lastChunk: Int?
    /// Set when the stretch is one of time. It has the sums that calls had before, and tells how those calls end that
    /// reach beyond the stretch.
    private let seek: CallPathSeek?
    private let onChunk: (Int) -> Void
    /// When the thread had no CPU.
    private var offCPU: OffCPU.Cursor
    /// What became of blocks; nil when memory was not recorded.
    private let memory: LiveMemory?
    /// Whether nothing in the stretch depends on what happened before it, except for the calls that were open.
    private(set) var isSelfContained = true
    /// Whether the last chunk was read.
    private(set) var isThrough = false

    /// Counts calls that overlap `from...to`, in ns since the session's start.
    ///
    /// - Parameters:
    ///   - clips: whether of a call's time only what lies in `from...to` counts. How long calls took, for percentiles, is told of
    ///     whole calls all the same.
    ///   - offCPU: when the thread had no CPU, if that is known.
    ///   - memory: which blocks of the process were not freed, if memory was recorded.
    ///   - carriedIn: calls open at the beginning of a stretch that is not the first.
    ///   - lastChunk: the last chunk of a stretch that is not the last.
    ///   - seek: what lies before and after a stretch of time that is read by itself.
    ///   - bySite: whether the calls of a function count by where they were made.
    ///   - onChunk: told of every chunk that was read.
    init(
        _ space: AddressSpace, from: UInt64, to: UInt64, clips: Bool = false, offCPU: OffCPU? = nil,
        memory: LiveMemory? = nil, carriedIn: UInt32 = 0, lastChunk: Int? = nil, seek: CallPathSeek? = nil,
        bySite: Bool = false,
        onChunk: @escaping (Int) -> Void = { _ in }
    ) {
        self.space = space
        self.from = from
        self.to = to
        counted = clips && from <= to ? from...to : 0 ... .max
        self.lastChunk = lastChunk
        self.onChunk = onChunk
        self.offCPU = OffCPU.Cursor(offCPU)
        self.memory = memory
        self.seek = seek
        toCarryIn = seek.map { UInt32($0.before.count) } ?? carriedIn
        if bySite { sites = FunctionKeys() }
        keysDiffer = space.addressesChange || bySite
    }

    private var clips: Bool { counted != 0 ... .max }

    func free() {
        table.free()
        freeKeys()
    }

    func freeKeys() {
        keys.free()
        sites?.free()
    }

    /// More is known of the process now. Numbers of stretches between unloads stay what they are.
    mutating func set(_ space: AddressSpace) {
        self.space = space
        keysDiffer = space.addressesChange || sites != nil
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let epoch = keysDiffer ? epoch(of: call) : 0
        let caller = (call - 1).pointee.payload.node
        // The callee that the caller called last is most likely the next one too. Node 0 is none, and has no key.
        let recent = table.nodes[Int(caller)].link
        let key = keys[table.nodes[Int(recent)].function]
        call.pointee.payload.node =
            key.pointee.address == call.pointee.function && key.pointee.epoch == epoch
            ? recent : lookUp(call.pointee.function, epoch, of: caller)
        call.pointee.payload.isCarried = false
        call.pointee.payload.callees = 0
        call.pointee.payload.dropped.calls = 0
        call.pointee.payload.dropped.time = 0
        if toCarryIn > 0 { carryIn(call) }
    }

    @inline(never)
    private mutating func epoch(of call: UnsafeMutablePointer<OpenCall<Payload>>) -> UInt32 {
        let epoch = space.addressesChange ? space.epoch(at: call.pointee.enterTicks) : 0
        return sites?.number(call.pointee.callSite, epoch) ?? epoch
    }

    @inline(never)
    private mutating func lookUp(_ function: UInt64, _ epoch: UInt32, of caller: UInt32) -> UInt32 {
        table.lookUp(caller, keys.number(function, epoch))
    }

    @inline(never)
    private mutating func carryIn(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        toCarryIn -= 1
        if let seek {
            if clips { return }
            let before = seek.before[seek.before.count - 1 - Int(toCarryIn)]
            call.pointee.payload.callees = before.callees
            call.pointee.payload.dropped = before.dropped
            return
        }
        call.pointee.payload.isCarried = true
        carriedIn.append(CarriedCall(call: call.pointee))
        openOfCarriedIn += 1
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        let start = call.pointee.start
        let begin = max(start, counted.lowerBound), stop = min(end, counted.upperBound)
        let total = stop > begin ? stop &- begin : 0
        (call - 1).pointee.payload.callees &+= total
        let isCounted = start <= to && end >= from
        if call.pointee.payload.isCarried { endCarriedIn(isCounted: isCounted) }
        guard isCounted else { return }
        let callees = call.pointee.payload.callees
        let own = total > callees ? total &- callees : 0
        let node = table.nodes + Int(call.pointee.payload.node)
        node.pointee.total &+= total
        node.pointee.selfTime &+= own
        if begin < node.pointee.firstStart { node.pointee.firstStart = begin }
        if stop > node.pointee.lastEnd { node.pointee.lastEnd = stop }
        if !offCPU.hadCPU(from: begin, to: stop) { split(from: begin, to: stop, of: node) }
        if call.pointee.payload.dropped.calls > 0 { takeOut(call.pointee.payload.dropped, own: own, of: node) }
        if call.pointee.isInherited { return addInherited(total, to: node) }
        let whole = end > start ? end &- start : 0
        table.histograms.count(whole, of: node)
        if whole < node.pointee.minimum { node.pointee.minimum = whole }
        if whole > node.pointee.maximum { node.pointee.maximum = whole }
        node.pointee.lowCalls &+= 1
        if node.pointee.lowCalls == 0 { table.rares.change(&node.pointee.rare) { $0.pointee.calls &+= 1 << 32 } }
    }

    @inline(never)
    private mutating func split(from start: UInt64, to end: UInt64, of node: UnsafeMutablePointer<PathNode>) {
        let times = offCPU.times(from: start, to: end)
        guard !times.isZero else { return }
        table.rares.change(&node.pointee.rare) { $0.pointee.offCPU.add(times) }
    }

    @inline(never)
    private mutating func addInherited(_ total: UInt64, to node: UnsafeMutablePointer<PathNode>) {
        table.rares.change(&node.pointee.rare) { rare in
            rare.pointee.inherited &+= total
            rare.pointee.inheritedCalls &+= 1
        }
    }

    @inline(never)
    private mutating func endCarriedIn(isCounted: Bool) {
        // The innermost call ends first.
        openOfCarriedIn -= 1
        carriedIn[openOfCarriedIn].hasEnded = true
        carriedIn[openOfCarriedIn].isCounted = isCounted
    }

    /// Keeps the time of left-out callees apart from self time. It was rounded by itself, so it may not exceed `own`.
    @inline(never)
    private mutating func takeOut(_ dropped: CallSum, own: UInt64, of node: UnsafeMutablePointer<PathNode>) {
        let time = min(dropped.time, own)
        node.pointee.selfTime &-= time
        table.rares.change(&node.pointee.rare) { $0.pointee.dropped.add(CallSum(calls: dropped.calls, time: time)) }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        guard counted.contains(moment) else { return }
        call.pointee.payload.dropped.add(CallSum(calls: UInt64(calls), time: time))
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        guard case .memory(let block) = told else { return }
        let number = call.pointee.payload.node
        guard block.isNew && memory != nil || block.isFault, number != 0, moment >= from, moment <= to else { return }
        let left = block.isNew ? memory?.left(of: block, allocatedAt: ticks) : nil
        table.rares.change(&table.nodes[Int(number)].rare) { rare in
            rare.pointee.selfMemory.add(block)
            guard let left else { return }
            rare.pointee.selfMemory.liveBlocks &+= 1
            rare.pointee.selfMemory.live &+= left
        }
    }

    mutating func run(lane: UInt32, at moment: UInt64) { isSelfContained = false }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        // When replay begins in the middle of a thread, the sums from before come from elsewhere.
        if index > seek?.chunks.lowerBound ?? 0, afterGap { isSelfContained = false }
    }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        onChunk(index)
        if let seek { return end(chunk: index, of: seek, main) }
        guard let lastChunk else { return true }
        guard isSelfContained else { return false }
        if index == lastChunk {
            isThrough = true
            carryOut(main)
        }
        return index < lastChunk
    }

    private mutating func carryOut(_ main: LaneStack<Payload>) {
        for depth in 0..<main.depth { carriedOut.append(CarriedCall(call: main.base[depth + 1])) }
    }

    /// Ends the calls that reach beyond the stretch of time.
    private mutating func end(chunk index: Int, of seek: CallPathSeek, _ main: LaneStack<Payload>) -> Bool {
        // When the stretch's last chunk is damaged, the calls that are open at its end are not known from it.
        guard isSelfContained, toCarryIn == 0, index < seek.chunks.upperBound else { return false }
        guard index + 1 == seek.chunks.upperBound else { return true }
        guard index + 1 < seek.spans.chunks.count else {
            isThrough = true
            return true
        }
        guard let next = seek.spans.beginning(of: index + 1), main.isPath(of: next) else { return false }
        let open = (0..<main.depth).map(next.path(at:))
        let ends = open.enumerated().map { depth, call in
            let payload = main.base[depth + 1].payload
            return seek.spans.end(
                of: call, depth: depth, from: index + 1,
                SpanningCalls.Sums(callees: payload.callees, dropped: payload.dropped))
        }
        guard ends.allSatisfy({ $0 != nil }) else { return false }
        for (depth, end) in ends.enumerated().reversed() {
            let call = main.base + (depth + 1)
            if !clips {
                call.pointee.payload.callees = end!.sums.callees
                call.pointee.payload.dropped = end!.sums.dropped
            }
            exit(call, end: end!.time, state: end!.state)
        }
        isThrough = true
        return false
    }

    // MARK: Joining

    /// Gives the calls that are open at this stretch's beginning what they had at the end of the stretch before it,
    /// `previous`.
    ///
    /// - Parameter boundary: the moment between the two, in ns.
    /// - Returns: false when the two stretches do not fit together. Then the thread is to be replayed in one piece.
    mutating func join(_ previous: CallPathSink, boundary: UInt64) -> Bool {
        guard previous.isSelfContained, isSelfContained, previous.isThrough, isThrough || lastChunk == nil,
            previous.carriedOut.count == carriedIn.count,
            zip(previous.carriedOut, carriedIn).allSatisfy({ $0.isSame(as: $1) })
        else { return false }
        for (index, before) in previous.carriedOut.enumerated() {
            let payload = before.call.payload
            // The call's time is counted where it ends, but callees may have ended before, and their paths need this
            // call's path. It is there when the call overlaps the stretch of time asked for, as the call does if any
            // callee did.
            if before.call.start <= to, boundary >= from {
                let node = previous.table.nodes + Int(payload.node)
                node.pointee.firstStart = min(
                    node.pointee.firstStart, max(before.call.start, counted.lowerBound))
            }
            if !carriedIn[index].hasEnded {
                carriedOut[index].call.payload.callees &+= payload.callees
                carriedOut[index].call.payload.dropped.add(payload.dropped)
            } else if carriedIn[index].isCounted {
                let node = carriedIn[index].call.payload.node
                var sums = table.sums(node)
                let own = sums.selfTime &+ sums.dropped.time
                let rest = own > payload.callees ? own &- payload.callees : 0
                sums.dropped.add(payload.dropped)
                sums.dropped.time = min(sums.dropped.time, rest)
                sums.selfTime = rest &- sums.dropped.time
                table.set(sums, of: node)
            }
        }
        return true
    }
}
