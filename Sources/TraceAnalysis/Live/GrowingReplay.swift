internal import TraceFile

/// Adds up the calls of one thread by call path while the thread goes on: each record is replayed once.
struct GrowingReplay {
    private var replay: StackReplay<CallPathSink>
    private var sink: CallPathSink
    /// Where the chunk that the thread is writing goes on, and how many bytes of its payload were replayed.
    private var place: (sequence: UInt64, cursor: RecordCursor, bytes: Int)?

    init(_ thread: TracedThread, _ space: AddressSpace, _ clock: Clock) {
        sink = CallPathSink(space, from: 0, to: .max)
        replay = StackReplay(thread, clock: clock, from: 0, sink: &sink)
    }

    func free() {
        replay.free()
        sink.free()
    }

    /// Takes an address space that knows more of the process's addresses.
    mutating func set(_ space: AddressSpace) { sink.set(space) }

    /// Replays the next chunks of the thread. The first of them may be the one that was replayed last, with more in it.
    ///
    /// - Complexity: O(new records).
    mutating func add(_ thread: TracedThread) {
        replay.thread = thread
        for index in thread.chunks.indices {
            let chunk = thread.chunks[index]
            guard thread.payloadIsIntact(ofChunk: index) else {
                replay.isContiguous = false
                place = nil
                continue
            }
            var cursor: RecordCursor
            if let place, place.sequence == chunk.sequence, place.bytes <= chunk.payload.count {
                cursor = place.cursor
                cursor.go(on: UnsafeRawBufferPointer(rebasing: chunk.payload[place.bytes...]))
            } else {
                replay.begin(chunk: index, &sink)
                cursor = replay.records(ofChunk: index)
            }
            replay.decode(chunk: index, from: &cursor, &sink)
            place = chunk.endTicks == 0 ? (chunk.sequence, cursor, chunk.payload.count) : nil
        }
    }

    /// Adds the paths to others, with what its open calls have taken until now. Nothing is used up.
    ///
    /// - Parameter now: in ticks; nil when the thread has done nothing since its last record.
    /// - Complexity: O(paths + open calls).
    mutating func add(to sum: inout CallPathTable, now: UInt64?) {
        let end = replay.moment(at: max(replay.lastTicks, now ?? 0))
        let stacks = [replay.stack] + replay.parked.values
        // A path that no call has ended on yet counts from its open call on, because paths below it may have some already.
        for stack in stacks {
            for depth in 0..<stack.depth {
                let call = stack.base + (depth + 1)
                let node = sink.table.nodes + Int(call.pointee.payload.node)
                node.pointee.firstStart = min(node.pointee.firstStart, call.pointee.start)
            }
        }
        let places = Aggregation.add(sink.table, sink.keys, nil, sink.space, to: &sum)
        defer { places.free() }
        for stack in stacks { GrowingReplay.add(stack, until: end, places, to: &sum) }
    }

    /// Adds the calls of a stack as if they ended at one moment.
    private static func add(
        _ stack: LaneStack<CallPathSink.Payload>, until end: UInt64, _ places: GrowingMemory<UInt32>,
        to sum: inout CallPathTable
    ) {
        var below: UInt64 = 0
        for depth in (0..<stack.depth).reversed() {
            let call = stack.base[depth + 1]
            var sums = CallPathSums()
            sums.total = end > call.start ? end &- call.start : 0
            let callees = call.payload.callees &+ below
            let own = sums.total > callees ? sums.total &- callees : 0
            sums.dropped = CallSum(calls: call.payload.dropped.calls, time: min(call.payload.dropped.time, own))
            sums.selfTime = own &- sums.dropped.time
            (sums.firstStart, sums.lastEnd) = (call.start, max(end, call.start))
            if call.isInherited {
                (sums.inherited, sums.inheritedCalls) = (sums.total, 1)
            } else {
                (sums.calls, sums.minimum, sums.maximum) = (1, sums.total, sums.total)
                sums.shortestEnded = .max
            }
            below = sums.total
            let node = places.start[Int(call.payload.node)]
            if node != 0 { sum.add(sums, 0, in: sum.histograms, to: node) }
        }
    }
}
