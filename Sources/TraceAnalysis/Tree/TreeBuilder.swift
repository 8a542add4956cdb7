internal import TraceFile

/// Builds the call tree of one thread as its calls are replayed. It leaves out what the filter hides as soon as that is
/// known, so that memory follows what is shown.
///
/// Lines come in pre-order, but a call's times are known only at its end. Three modes solve that; `rank` precedes them:
/// - `collect` keeps all nodes until the thread's end, or gives up once there are more than `budget`;
/// - `measure` keeps none, only the outcome of calls that are open where a chunk ends;
/// - `stream` hands out the main lane's nodes chunk by chunk. It takes the times of calls that are still open from
///   ``SpanningCalls`` as long as that knows them, and then from the outcomes of `measure`. Other lanes are collected;
/// - `rank` keeps none, but finds the longest calls of several threads.
struct TreeBuilder: CallSink {
    enum Mode {
        case collect(budget: Int)
        case measure
        case stream
        case rank(LongestCalls)
    }

    let filter: TreeFilter
    /// It is unmanaged because retaining and releasing an object for each call takes longer than the rest of the work.
    /// The tree's owner keeps it alive.
    let classifier: Unmanaged<NameClassifier>?
    private let space: AddressSpace
    /// What the arguments of the process's calls are.
    private let layouts: [UInt32: ArgumentLayout]
    private let needsMatch: Bool
    private let leads: Bool
    /// Whether triggers set other limits.
    let limits: Bool
    /// Whether a watch list says which calls are shown, and how far below a watched one.
    private let watches: Bool
    private let watchedDepth: UInt8
    /// When the thread had no CPU.
    private var offCPU: OffCPU.Cursor
    /// What part of a call's time is compared.
    private let measure: TimeKind
    /// What open calls have done with memory; nil when that is not asked for.
    private var memory: OpenMemory?
    private let tellsMemory: Bool
    /// Whether this is a task, which may have time in which it did not run.
    private let isTask: Bool
    /// What is asked for of calls besides their times, by cost, depth and time.
    private enum Asked {
        case nothing
        /// Which functions they are of.
        case names
        case anything
    }
    private let asked: Asked
    let mode: Mode

    private(set) var outcomes: [Outcome]
    private var nextOutcome: Int32 = 0
    /// Arenas by lane, the main one first, and the sums of what was hidden among each lane's roots.
    private(set) var lanes: [(lane: UInt32, arena: NodeArena, hidden: CallSum)]
    private var laneIndex: [UInt32: Int] = [0: 0]
    private var current = 0
    private var arena = NodeArena()
    private var rootsHidden = CallSum()
    private let isMeasuring: Bool
    private let isStreaming: Bool
    /// The longest calls, which calls are to be among, or are ranked for. The tree's owner keeps them alive.
    private let longest: Unmanaged<LongestCalls>?
    private let isRanking: Bool
    /// In ns: shorter calls are hidden. Of calls that take exactly `tie`, if there are any, those that are not among
    /// the longest are hidden, too.
    private let least: UInt64
    /// The same of the longest calls alone.
    let leastOfLongest: UInt64
    let tie: UInt64
    /// Whether `collect` gave up.
    private(set) var isOverBudget = false
    /// Takes the main lane's nodes in `stream`; returns whether to go on.
    var flush: ((NodeArena) -> Bool)?
    /// In `stream`, tells what becomes of calls, as long as it is there. After that, `measure` does.
    var spans: SpanningCalls?
    var measureOutcomes: (() -> [Outcome])?
    /// The first chunk after the stretch of time asked for. `stream` may stop there.
    var limit = Int.max
    /// The sums until then of the calls that are open where the first replayed chunk begins, innermost first.
    var carriedIn: [SpanningCalls.Sums] = [] {
        didSet { toCarryIn = carriedIn.count }
    }
    private var toCarryIn = 0

    init(
        mode: Mode, filter: TreeFilter, classifier: NameClassifier?, space: AddressSpace, isTask: Bool,
        offCPU: OffCPU? = nil, tellsMemory: Bool = false, longest: LongestCalls? = nil, outcomes: [Outcome] = [],
        layouts: [UInt32: ArgumentLayout] = [:]
    ) {
        memory = tellsMemory ? OpenMemory() : nil
        self.tellsMemory = tellsMemory
        self.layouts = layouts
        self.offCPU = OffCPU.Cursor(offCPU)
        measure = filter.measure
        self.isTask = isTask
        self.mode = mode
        self.filter = filter
        self.classifier = classifier.map { Unmanaged.passUnretained($0) }
        self.space = space
        self.outcomes = outcomes
        needsMatch = !filter.only.isEmpty || !filter.withArguments.isEmpty
        leads = !filter.leadingTo.isEmpty
        limits = !filter.triggers.isEmpty
        watches = filter.watch.map { !$0.isComplete } ?? false
        watchedDepth = filter.watch?.relativeDepth ?? 0
        switch mode {
        case .collect: (isMeasuring, isStreaming) = (false, false)
        case .measure: (isMeasuring, isStreaming) = (true, false)
        case .stream: (isMeasuring, isStreaming) = (false, true)
        case .rank: (isMeasuring, isStreaming) = (true, false)
        }
        if case .rank(let ranked) = mode {
            self.longest = Unmanaged.passUnretained(ranked)
            isRanking = true
        } else {
            self.longest = longest.map { Unmanaged.passUnretained($0) }
            isRanking = false
        }
        let asksMore = tellsMemory || isTask || measure != .total || watches || leads || limits
        asked = asksMore ? .anything : classifier == nil ? .nothing : .names
        least = max(filter.minCost, longest?.least ?? 0)
        leastOfLongest = longest?.least ?? 0
        tie = longest.map(\.least) ?? .max
        lanes = [(0, arena, CallSum())]
    }

    /// The time in ns below which calls are hidden without being looked at; nil where more than their times decides.
    var unseenBelow: UInt64? { asked == .nothing && filter.from == 0 && filter.to == .max ? least : nil }

    func free() {
        for (index, lane) in lanes.enumerated() where index != current { lane.arena.free() }
        arena.free()
    }

    /// The arenas and hidden roots of all lanes, the current one included.
    mutating func settle() {
        lanes[current].arena = arena
        lanes[current].hidden = rootsHidden
    }

    // MARK: CallSink

    mutating func base(ofLane lane: UInt32) -> Payload {
        Payload(node: Payload.baseNode, standing: Standing(role: needsMatch ? .outside : .transparent))
    }

    // These are the hot paths. What few ask for is no part of the others: each branch more costs all calls time, even where it is
    // never taken.
    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        switch asked {
        case .nothing: enter(call, .nothing)
        case .names: enterNamed(call)
        case .anything: enterAsked(call)
        }
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        switch asked {
        case .nothing: exit(call, end: end, state: state, .nothing)
        case .names: exitNamed(call, end: end, state: state)
        case .anything: exitAsked(call, end: end, state: state)
        }
    }

    @inline(never)
    private mutating func enterNamed(_ call: UnsafeMutablePointer<OpenCall<Payload>>) { enter(call, .names) }

    @inline(never)
    private mutating func enterAsked(_ call: UnsafeMutablePointer<OpenCall<Payload>>) { enter(call, .anything) }

    @inline(never)
    private mutating func exitNamed(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        exit(call, end: end, state: state, .names)
    }

    @inline(never)
    private mutating func exitAsked(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        exit(call, end: end, state: state, .anything)
    }

    // Fields are read and written one by one, because a load of several at once would wait until the stores of each have left the
    // store buffer.
    @inline(__always)
    private mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>, _ asked: Asked) {
        let caller = call - 1
        let callerRole = caller.pointee.payload.standing.role
        var depth = caller.pointee.payload.depth &+ (callerRole == .candidate ? 1 : 0)
        var limits: UInt32 = 0
        var role = callerRole == .transparent ? Role.candidate : callerRole
        var leads = false
        var watchedAbove = Standing.unwatched
        if asked != .nothing, let classifier {
            let found = classifier._withUnsafeGuaranteedRef { Self.classify(call, $0, space, role) }
            (role, leads) = (found.role, found.leads)
            let above = caller.pointee.payload.standing.watchedAbove
            if asked == .anything, found.isWatched {
                watchedAbove = 0
            } else if asked == .anything, above != Standing.unwatched {
                // A call that is not shown does not count as a level. The count stays below the number that means
                // "unwatched", which is more levels than any watch list shows.
                watchedAbove = role == .candidate ? min(above &+ 1, Standing.unwatched &- 1) : above
            }
            if asked == .anything, self.limits {
                if caller.pointee.payload.standing.isTooDeep { depth = caller.pointee.payload.depth }
                limits = limit(caller.pointee.payload.standing, role, found.limits, depth: depth)
            }
        }
        let node = place(for: call, role, depth: depth, limits)
        call.pointee.payload.callees = 0
        call.pointee.payload.suspended = 0
        call.pointee.payload.hidden.calls = 0
        call.pointee.payload.hidden.time = 0
        call.pointee.payload.dropped.calls = 0
        call.pointee.payload.dropped.time = 0
        call.pointee.payload.depth = depth
        call.pointee.payload.node = node
        call.pointee.payload.outcome = -1
        call.pointee.payload.standing = Standing(
            role: role, leads: leads, watchedAbove: watchedAbove, limits: limits)
        if asked == .anything, tellsMemory { memory?.enter() }
        if toCarryIn > 0 { carryIn(call) }
    }

    /// A place for a call, if it may be shown.
    @inline(__always)
    private mutating func place(
        for call: UnsafeMutablePointer<OpenCall<Payload>>, _ role: Role, depth: UInt32, _ limits: UInt32
    ) -> Int32 {
        guard role == .candidate, !isMeasuring else { return Payload.noNode }
        let isTooDeep =
            limits == 0 ? depth > filter.maxDepth : Standing(role: role, limits: limits).isTooDeep
        return isTooDeep ? Payload.noNode : arena.append(call, depth: depth)
    }

    @inline(never)
    private mutating func carryIn(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        toCarryIn -= 1
        call.pointee.payload.callees = carriedIn[toCarryIn].callees
        call.pointee.payload.dropped = carriedIn[toCarryIn].dropped
    }

    @inline(never)
    private static func classify(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ classifier: NameClassifier, _ space: AddressSpace,
        _ role: Role
    ) -> (role: Role, leads: Bool, isWatched: Bool, limits: NameClassifier.Limits?) {
        if role == .without { return (role, false, false, nil) }
        let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
        let match = classifier.match(function)
        if match.contains(.without) { return (.without, false, false, nil) }
        var role = role
        if role == .outside, match.contains(.only) { role = .candidate }
        if role == .candidate, match.contains(.hidden) { role = .transparent }
        return (
            role, match.contains(.leadingTo), role == .candidate && match.contains(.watched),
            match.contains(.limiting) ? classifier.limits(of: function) : nil
        )
    }

    @inline(__always)
    private mutating func exit(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState, _ asked: Asked
    ) {
        let caller = call - 1
        let start = call.pointee.start
        let total = end > start ? end &- start : 0
        let ended = asked == .anything && tellsMemory ? memory?.exit() : nil
        if asked == .anything, isTask {
            let isWait = call.pointee.function == FunctionTable.suspended
            caller.pointee.payload.suspended &+= isWait ? total : call.pointee.payload.suspended
        }
        guard call.pointee.payload.standing.role == .candidate else {
            exitLeftOut(call.pointee.payload, caller, total: total)
            return
        }
        caller.pointee.payload.callees &+= total
        var isShown = start <= filter.to && end >= filter.from
        if asked == .anything, leads {
            isShown = isShown && call.pointee.payload.standing.leads
            if call.pointee.payload.standing.leads { caller.pointee.payload.standing.lead() }
        }
        let isMeasured = asked == .anything && measure != .total
        var times = isMeasured ? split(from: start, to: end) : OffCPUTimes()
        let cost = isMeasured ? measure.part(of: total, times) : total
        if asked == .anything, watches, isShown, !isWatchShown(call, cost) { isShown = false }
        if asked == .anything, limits {
            isShown = isShown && applyLimits(call, cost: cost, total: total)
        } else if isShown, cost < least || call.pointee.payload.depth > filter.maxDepth || cost == tie && !isKept(call)
        {
            isShown = false
            hide(CallSum(calls: 1 &+ call.pointee.payload.hidden.calls, time: total), below: caller)
        }
        if isRanking, isShown { rank(call, cost) }
        if isShown, !isMeasured, !offCPU.hadCPU(from: start, to: end) { times = split(from: start, to: end) }
        let node = call.pointee.payload.node
        if node >= 0 {
            if isShown {
                arena.end(Int(node), Outcome(call, total: total, offCPU: times, state: state, isShown: true))
                if let ended { arena.set(ended, of: Int(node)) }
            } else {
                arena.truncate(to: node)
            }
        }
        let number = call.pointee.payload.outcome
        if number >= 0, isMeasuring {
            outcomes[Int(number)] = Outcome(call, total: total, offCPU: times, state: state, isShown: isShown)
            if let ended { outcomes[Int(number)].memory = ended }
        }
    }

    @inline(never)
    private mutating func split(from start: UInt64, to end: UInt64) -> OffCPUTimes {
        offCPU.times(from: start, to: end)
    }

    /// Whether the watch list shows a call: it is watched, not too far below one that is, or above one that the filter keeps.
    @inline(never)
    private func isWatchShown(_ call: UnsafeMutablePointer<OpenCall<Payload>>, _ cost: UInt64) -> Bool {
        let standing = call.pointee.payload.standing
        guard standing.leadsToWatched else { return standing.watchedAbove <= watchedDepth }
        if keeps(call, cost) {
            (call - 1).pointee.payload.standing.leadToWatched()
        }
        return true
    }

    @inline(never)
    func isKept(_ call: UnsafeMutablePointer<OpenCall<Payload>>) -> Bool {
        longest?._withUnsafeGuaranteedRef { $0.keeps(start: call.pointee.start, depth: call.pointee.payload.depth) }
            ?? true
    }

    private func rank(_ call: UnsafeMutablePointer<OpenCall<Payload>>, _ cost: UInt64) {
        longest?._withUnsafeGuaranteedRef {
            $0.add(total: cost, start: call.pointee.start, depth: call.pointee.payload.depth)
        }
    }

    private mutating func exitLeftOut(
        _ payload: Payload, _ caller: UnsafeMutablePointer<OpenCall<Payload>>, total: UInt64
    ) {
        switch payload.standing.role {
        case .without:
            caller.pointee.payload.callees &+= total
        case .transparent, .outside, .candidate:
            caller.pointee.payload.callees &+= payload.callees
            caller.pointee.payload.dropped.add(payload.dropped)
            if payload.standing.leads { caller.pointee.payload.standing.lead() }
            if payload.standing.leadsToWatched { caller.pointee.payload.standing.leadToWatched() }
            if payload.standing.isKept { caller.pointee.payload.standing.keep() }
            if payload.hidden.calls > 0 || payload.standing.isTooDeep { hide(payload.hidden, below: caller) }
        }
    }

    @inline(__always)
    mutating func hide(_ sum: CallSum, below caller: UnsafeMutablePointer<OpenCall<Payload>>) {
        if caller.pointee.payload.node == Payload.baseNode {
            rootsHidden.add(sum)
        } else {
            caller.pointee.payload.hidden.add(sum)
        }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        call.pointee.payload.dropped.add(CallSum(calls: UInt64(calls), time: time))
    }

    mutating func skip(calls: UInt64, time: UInt64, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        if calls == 0 { return }
        call.pointee.payload.callees &+= time
        if isRanking {
            longest?._withUnsafeGuaranteedRef { $0.pass(calls) }
        } else {
            hide(CallSum(calls: calls, time: time), below: call)
        }
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        switch told {
        case .arguments(let arguments):
            if call.pointee.payload.standing.role == .outside, isAskedFor(call, arguments) { begin(call) }
            if call.pointee.payload.node >= 0 { arena.add(arguments) }
        case .result(let result):
            if call.pointee.payload.node >= 0 { arena.add(result, of: Int(call.pointee.payload.node)) }
        case .memory(let block): memory?.add(block)
        default: if let event = ThreadEvent(told, ticks: ticks, moment: moment) { show(event, in: call) }
        }
    }

    private mutating func show(_ event: ThreadEvent, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let standing = call.pointee.payload.standing
        let role = standing.role
        let depth = call.pointee.payload.depth &+ (role == .candidate ? 1 : 0)
        let isTooDeep = standing.isTooDeep || (standing.levels.map { $0 == 0 } ?? (depth > filter.maxDepth))
        // A moment is never among the longest calls.
        guard role == .candidate || role == .transparent, !isMeasuring, longest == nil, !isTooDeep,
            event.moment >= filter.from, event.moment <= filter.to
        else { return }
        arena.append(event, depth: depth)
    }

    /// Whether a call is shown for its arguments.
    @inline(never)
    private func isAskedFor(_ call: UnsafeMutablePointer<OpenCall<Payload>>, _ arguments: RecordedArguments) -> Bool {
        guard !filter.withArguments.isEmpty else { return false }
        let name = space.functions[space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)].name
        return filter.withArguments.contains {
            $0.function.matches(name) && arguments.fulfil($0.comparisons, by: layouts)
        }
    }

    /// Shows a call that has just begun, as if its function were asked for.
    private mutating func begin(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        guard let classifier else { return }
        let found = classifier._withUnsafeGuaranteedRef { Self.classify(call, $0, space, .candidate) }
        let depth = call.pointee.payload.depth
        let limits = limits ? limit((call - 1).pointee.payload.standing, found.role, found.limits, depth: depth) : 0
        call.pointee.payload.standing = Standing(
            role: found.role, leads: found.leads, watchedAbove: found.isWatched ? 0 : Standing.unwatched,
            limits: limits)
        call.pointee.payload.node = place(for: call, found.role, depth: depth, limits)
    }

    mutating func run(lane: UInt32, at moment: UInt64) {
        settle()
        memory?.run(lane: lane)
        if let known = laneIndex[lane] {
            current = known
        } else {
            current = lanes.count
            laneIndex[lane] = current
            lanes.append((lane, NodeArena(), CallSum()))
        }
        arena = lanes[current].arena
        rootsHidden = lanes[current].hidden
    }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        switch mode {
        case .collect(let budget):
            isOverBudget = arena.count > budget
            return !isOverBudget
        case .measure:
            number(main, chunk: index)
            return true
        case .rank: return true
        case .stream:
            settle()
            // Calls that are open at the very end have their times as soon as that is read.
            if let spans, index + 1 == spans.chunks.count { return true }
            number(main, chunk: index)
            guard let flush else { return true }
            let goesOn = flush(lanes[0].arena)
            lanes[0].arena.truncate(to: 0)
            if current == 0 { arena = lanes[0].arena }
            // Calls of other lanes may go on at any later time.
            return goesOn && (index + 1 < limit || lanes.count > 1)
        }
    }

    /// Numbers the open calls that have no number yet, outermost first. Both passes give the same numbers.
    private mutating func number(_ main: LaneStack<Payload>, chunk index: Int) {
        if let spans {
            spans.forget(index)
            if spans.beginning(of: index + 1).map(main.isPath) != true { self.spans = nil }
        }
        if isStreaming, spans == nil { measureAll() }
        var first = main.top
        while first > main.base, first.pointee.payload.outcome < 0 { first -= 1 }
        while first < main.top {
            first += 1
            first.pointee.payload.outcome = nextOutcome
            if isStreaming {
                handOut(first, depth: first - main.base - 1, chunk: index)
            } else {
                // This outcome stands until the call ends, which it does before the thread's replay does.
                outcomes.append(Outcome(first, total: 0, state: .open, isShown: false))
            }
            nextOutcome += 1
        }
    }

    /// Completes the node of an open call from the call's outcome, because the node is about to leave the arena.
    private mutating func handOut(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, depth: Int, chunk: Int
    ) {
        let index = Int(call.pointee.payload.node)
        guard index >= 0 else { return }
        call.pointee.payload.node = Payload.goneNode
        let outcome = spannedOutcome(call, depth: depth, chunk: chunk) ?? outcomes[Int(nextOutcome)]
        lanes[0].arena.end(index, outcome)
        if tellsMemory { lanes[0].arena.set(outcome.memory, of: index) }
    }

    /// The outcome of a call that is open where `chunk` ends, if parts of the recording tell it. If they do not, this
    /// reads all of the recording before it returns nil.
    private mutating func spannedOutcome(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, depth: Int, chunk: Int
    ) -> Outcome? {
        guard let spans else { return nil }
        let sums = SpanningCalls.Sums(callees: call.pointee.payload.callees, dropped: call.pointee.payload.dropped)
        guard let entry = spans.beginning(of: chunk + 1)?.path(at: depth),
            let end = spans.end(of: entry, depth: depth, from: chunk + 1, sums)
        else {
            self.spans = nil
            measureAll()
            return nil
        }
        var ended = call.pointee
        ended.payload.callees = end.sums.callees
        ended.payload.dropped = end.sums.dropped
        let total = end.time > ended.start ? end.time &- ended.start : 0
        return Outcome(
            &ended, total: total, offCPU: split(from: ended.start, to: end.time),
            state: end.state, isShown: ended.start <= filter.to && end.time >= filter.from)
    }

    private mutating func measureAll() {
        guard let measureOutcomes else { return }
        outcomes = measureOutcomes()
        self.measureOutcomes = nil
    }
}
