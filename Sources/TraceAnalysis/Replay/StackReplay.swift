public import TraceFile

/// Rebuilds the call stacks of one thread from its chunks, and tells a sink every call that begins and ends.
///
/// Within a contiguous run of chunks the stack is carried over. After a gap, the open call path of the next chunk is
/// the truth: calls that are not in it ended unwound at the last moment known before the gap, and calls that are new
/// began at their enter time. What does not fit is reported as damage, and replay goes on.
///
/// While the tracer works at a chunk switch, the thread's time stands still: sinks see moments and durations without
/// it. So calls still nest, and self times add up to the roots' totals exactly.
///
/// - Complexity: O(1) per record; allocates only when depth grows or a lane appears.
public struct StackReplay<Sink: CallSink> {
    @usableFromInline var thread: TracedThread
    @usableFromInline let clock: Clock
    @usableFromInline var stack: LaneStack<Sink.Payload>
    @usableFromInline var parked: [UInt32: LaneStack<Sink.Payload>] = [:]
    /// The last moment known of the thread, in ticks.
    @usableFromInline var lastTicks: UInt64
    /// Ticks that the tracer had taken of the thread when the current chunk began.
    @usableFromInline var tracerTicks: UInt64
    @usableFromInline var nextSequence: UInt64 = 0
    @usableFromInline var isContiguous = true
    /// Whether recording was stopped after the previous chunk.
    @usableFromInline var isStopped = false
    /// Functions and call sites of the calls that were open when recording was stopped, outermost first.
    @usableFromInline var stopped: [(function: UInt64, callSite: UInt64)] = []
    /// How many more calls may be made up of which nothing is known except that they are open. No stack needs more than
    /// this, and damaged data must not fill the memory.
    @usableFromInline var inventable = 1 << 18

    /// - Parameters:
    ///   - chunks: a stretch of the thread, which begins with the calls that its first chunk lists; nil for all. Calls
    ///     that no record ends are ended only after the thread's last chunk.
    ///   - onChunk: told of every chunk that was read.
    @inlinable
    public static func run(
        _ thread: TracedThread, clock: Clock, chunks: Range<Int>? = nil, onChunk: ((Int) -> Void)? = nil,
        into sink: inout Sink
    ) {
        let chunks = chunks ?? 0..<thread.chunks.count
        var replay = StackReplay(thread, clock: clock, from: chunks.lowerBound, sink: &sink)
        replay.run(chunks, onChunk, &sink)
        replay.free()
    }

    @inlinable
    init(_ thread: TracedThread, clock: Clock, from first: Int, sink: inout Sink) {
        self.thread = thread
        self.clock = clock
        lastTicks = first < thread.chunks.count ? thread.chunks[first].beginTicks : 0
        tracerTicks = thread.tracerTicks(upTo: lastTicks)
        stack = LaneStack(lane: 0, payload: sink.base(ofLane: 0))
    }

    /// The thread's own time at `ticks`, in ns, without what the tracer had taken of it when the current chunk began.
    @inlinable
    func moment(at ticks: UInt64) -> UInt64 {
        clock.nanoseconds(at: ticks > tracerTicks ? ticks &- tracerTicks : 0)
    }

    @inlinable
    func free() {
        stack.free()
        for lane in parked.values { lane.free() }
    }

    @inlinable
    mutating func run(_ chunks: Range<Int>, _ onChunk: ((Int) -> Void)?, _ sink: inout Sink) {
        for index in chunks where !read(chunk: index, onChunk, &sink) { return }
        if chunks.upperBound == thread.chunks.count { finish(&sink) }
    }

    /// - Returns: whether to go on.
    @inlinable
    mutating func read(chunk index: Int, _ onChunk: ((Int) -> Void)?, _ sink: inout Sink) -> Bool {
        guard thread.payloadIsIntact(ofChunk: index) else {
            isContiguous = false
            return true
        }
        begin(chunk: index, &sink)
        decode(chunk: index, &sink)
        thread.release(chunk: index)
        onChunk?(index)
        return end(chunk: index, &sink)
    }

    @inlinable
    mutating func end(chunk index: Int, _ sink: inout Sink) -> Bool {
        sink.leave(stack.top, at: moment(at: lastTicks))
        let main = stack.lane == 0 ? stack : parked[0]!
        return sink.end(chunk: index, main: main)
    }

    /// Makes the stack agree with the start of a chunk.
    @inlinable
    mutating func begin(chunk index: Int, _ sink: inout Sink) {
        let chunk = thread.chunks[index]
        let isFirst = nextSequence == 0 && isContiguous
        if isStopped { stop(&sink) }
        let hasAll = isContiguous && chunk.sequence == nextSequence && chunk.lostCalls == 0 && !chunk.hasGap
        let follows = hasAll && !chunk.restatesPath
        nextSequence = chunk.sequence &+ 1
        isContiguous = !chunk.isTruncated
        let agrees = chunk.lane == stack.lane && Int(chunk.depth) == stack.depth
        // The switch moves the last known moment on, in ticks, and leaves it where it was in the thread's own time.
        let tracerTicks = thread.tracerTicks(upTo: chunk.beginTicks)
        if tracerTicks > self.tracerTicks {
            lastTicks &+= tracerTicks &- self.tracerTicks
            self.tracerTicks = tracerTicks
        }
        let begin = max(chunk.beginTicks, lastTicks)
        if follows, !agrees, !isFirst {
            thread.report(
                .depthMismatch(expected: UInt32(truncatingIfNeeded: stack.depth), found: chunk.depth), inChunk: index)
        }
        sink.begin(
            chunk: index, at: moment(at: begin),
            afterGap: !(hasAll && (agrees || isFirst || chunk.restatesPath)))
        if !(follows && agrees) {
            if chunk.lane != stack.lane { switchLane(to: chunk.lane, at: begin, &sink) }
            adopt(path: chunk, begin: begin, &sink)
        }
        lastTicks = begin
        stopped = []
    }

    /// Replaces the current lane's stack by the open call path of `chunk`.
    @inlinable
    mutating func adopt(path chunk: Chunk, begin: UInt64, _ sink: inout Sink) {
        let depth = Int(chunk.depth)
        let unlisted = depth - Int(chunk.pathCount)
        var kept = 0
        while kept < min(depth, stack.depth) {
            // Calls that the path does not reach down to are taken from the stack as it was.
            if kept >= unlisted {
                let entry = chunk.path(at: kept - unlisted)
                let call = stack.base + (kept + 1)
                let isSame = entry.function == call.pointee.function && entry.enterTicks == call.pointee.enterTicks
                guard isSame || call.pointee.function == 0 else { break }
            }
            kept += 1
        }
        close(downTo: kept, at: lastTicks, state: .unwound, &sink)
        while stack.depth < depth {
            let level = stack.depth
            if level < unlisted {
                if inventable == 0 { return }
                inventable -= 1
                let known = level < stopped.count ? stopped[level] : (function: 0, callSite: 0)
                open(
                    function: known.function, callSite: known.callSite, at: begin,
                    inherited: level < Int(chunk.inherited), &sink)
            } else {
                let entry = chunk.path(at: level - unlisted)
                open(
                    function: entry.function, callSite: entry.callSite, at: entry.enterTicks,
                    inherited: level < Int(chunk.inherited), &sink)
            }
        }
    }

    /// Ends all lanes' open calls, because recording was stopped and it is unknown whether they went on.
    @inlinable
    mutating func stop(_ sink: inout Sink) {
        isStopped = false
        let lane = stack.lane
        for other in parked.keys.sorted() where parked[other]!.depth > 0 {
            switchLane(to: other, at: lastTicks, &sink)
            close(downTo: 0, at: lastTicks, state: .open, &sink)
        }
        if lane != stack.lane { switchLane(to: lane, at: lastTicks, &sink) }
        stopped = (0..<stack.depth).map { level in
            let call = stack.base + (level + 1)
            return (call.pointee.function, call.pointee.callSite)
        }
        close(downTo: 0, at: lastTicks, state: .open, &sink)
    }

    @inlinable
    mutating func open(
        function: UInt64, callSite: UInt64, at ticks: UInt64, inherited: Bool, _ sink: inout Sink
    ) {
        if stack.top + 1 == stack.limit { stack.grow() }
        // A caller of which nothing was known until now began no later than its callee, and never earlier than its own
        // caller.
        let start = max(thread.own(ticks: ticks, clock), stack.top.pointee.start)
        stack.top += 1
        stack.top.initialize(
            to: OpenCall(
                function: function, callSite: callSite, enterTicks: ticks, start: start, isInherited: inherited,
                payload: (stack.top - 1).pointee.payload))
        sink.enter(stack.top)
    }

    @inlinable
    mutating func close(downTo depth: Int, at ticks: UInt64, state: CallState, _ sink: inout Sink) {
        let end = moment(at: ticks)
        while stack.depth > depth {
            sink.exit(stack.top, end: end, state: state)
            stack.top -= 1
        }
    }

    /// Parks the current lane and takes up `lane`. A lane without open calls is forgotten.
    @inlinable
    mutating func switchLane(to lane: UInt32, at ticks: UInt64, _ sink: inout Sink) {
        sink.leave(stack.top, at: moment(at: ticks))
        if stack.lane != 0, stack.depth == 0 {
            stack.free()
        } else {
            parked[stack.lane] = stack
        }
        stack = parked.removeValue(forKey: lane) ?? LaneStack(lane: lane, payload: sink.base(ofLane: lane))
        sink.run(lane: lane, at: moment(at: ticks))
    }

    /// A cursor at the first record of a chunk that has begun. It counts in the thread's own time, because records hold
    /// differences.
    @inlinable
    func records(ofChunk index: Int) -> RecordCursor {
        var cursor = thread.chunks[index].records
        cursor.ticks = lastTicks > tracerTicks ? lastTicks &- tracerTicks : 0
        return cursor
    }

    @inlinable
    mutating func decode(chunk index: Int, _ sink: inout Sink) {
        var cursor = records(ofChunk: index)
        decode(chunk: index, from: &cursor, &sink)
    }

    /// The hot loop, with one iteration a record.
    ///
    /// - Parameter place: where it begins, and where it ends. It may go on from there when the chunk has grown.
    @inlinable
    mutating func decode(chunk index: Int, from place: inout RecordCursor, _ sink: inout Sink) {
        let chunk = thread.chunks[index]
        let clock = self.clock
        var cursor = place
        defer { place = cursor }
        let tracerTicks = self.tracerTicks
        while true {
            switch cursor.next() {
            case .enter:
                if stack.top + 1 == stack.limit { stack.grow() }
                let caller = stack.top
                let call = caller + 1
                stack.top = call
                call.pointee.function = cursor.function
                call.pointee.callSite = cursor.callSite(
                    callerFunction: caller.pointee.function, callerSite: caller.pointee.callSite)
                call.pointee.enterTicks = cursor.ticks &+ tracerTicks
                call.pointee.start = clock.nanoseconds(at: cursor.ticks)
                call.pointee.isInherited = false
                sink.enter(call)
            case .exit:
                if stack.top == stack.base {
                    thread.report(.exitWithoutCall, inChunk: index)
                } else {
                    sink.exit(stack.top, end: clock.nanoseconds(at: cursor.ticks), state: .complete)
                    stack.top -= 1
                }
            case .unwind:
                let depth = stack.depth - Int(cursor.count)
                if depth < 0 { thread.report(.unwindTooDeep, inChunk: index) }
                close(downTo: max(depth, 0), at: cursor.ticks &+ tracerTicks, state: .unwound, &sink)
            case .lane:
                resume(
                    lane: cursor.lane, depth: cursor.count, at: cursor.ticks &+ tracerTicks, chunk: index, &sink)
            case .dropped:
                sink.drop(
                    stack.top, calls: cursor.count, time: clock.nanoseconds(in: cursor.droppedTicks),
                    at: clock.nanoseconds(at: cursor.ticks))
            case .task:
                sink.begin(piece: cursor.piece, at: clock.nanoseconds(at: cursor.ticks))
            case .told:
                if stack.top != stack.base || !cursor.told.isOfCall {
                    sink.tell(
                        cursor.told, in: stack.top, ticks: cursor.ticks &+ tracerTicks,
                        at: clock.nanoseconds(at: cursor.ticks))
                }
            case .end:
                // The rest of a cut chunk is not known, and so its end is not.
                let ticks = cursor.ticks &+ tracerTicks
                lastTicks = chunk.isTruncated ? ticks : thread.end(of: chunk, lastRecord: ticks)
                isStopped = chunk.isStopped
                return
            case .malformed:
                thread.report(.malformedRecord, inChunk: index, remaining: cursor.remaining)
                isContiguous = false
                lastTicks = cursor.ticks &+ tracerTicks
                return
            }
        }
    }

    /// Takes up `lane`, which has `depth` open calls.
    @inlinable
    mutating func resume(lane: UInt32, depth: UInt32, at ticks: UInt64, chunk index: Int, _ sink: inout Sink) {
        if lane != stack.lane { switchLane(to: lane, at: ticks, &sink) }
        guard Int(depth) != stack.depth else { return }
        if !(thread.isCut && stack.depth == 0) {
            thread.report(
                .depthMismatch(expected: UInt32(truncatingIfNeeded: stack.depth), found: depth), inChunk: index)
        }
        close(downTo: Int(depth), at: ticks, state: .unwound, &sink)
        while stack.depth < Int(depth), inventable > 0 {
            inventable -= 1
            open(function: 0, callSite: 0, at: ticks, inherited: false, &sink)
        }
    }

    /// Ends the calls that no record ended.
    @inlinable
    mutating func finish(_ sink: inout Sink) {
        if thread.lastsAsLongAsProcess, !isStopped { lastTicks = max(lastTicks, thread.process.endTicks) }
        close(downTo: 0, at: lastTicks, state: .open, &sink)
        for lane in parked.keys.sorted() {
            switchLane(to: lane, at: lastTicks, &sink)
            close(downTo: 0, at: lastTicks, state: .open, &sink)
        }
    }
}
