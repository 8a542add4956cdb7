internal import TraceFile

/// Rebuilds one thread's open calls from its unfinished chunk, as the chunk grows.
///
/// The chunk begins with the calls that are open there, so nothing before it is needed. Bytes that were read are not read
/// again: to look at a thread that waits costs nothing but the look at its chunk's header.
struct LiveReplay {
    private(set) var chunk: LiveChunk
    /// What the records so far make of it.
    private var state: State
    private var cursor: RecordCursor
    /// Bytes of the payload that are in `state`.
    private var read = 0
    /// What records that may yet be taken back make of it; nil when there are none.
    private var provisional: State?
    private var found = Found()
    private var hasMissedRecords: Bool
    /// What happened since the caller last took it.
    private struct Found {
        var marks: [LiveMark] = []
        var ended: [LiveEnd] = []
        /// Shorter calls that have ended are not told of. In ticks.
        var longTicks = UInt64.max
    }

    private struct State {
        var lane: UInt32
        var calls: [LiveCall]
        var parked: [UInt32: [LiveCall]] = [:]
        var ticks: UInt64
    }

    /// Calls of which nothing is known are made up to this number, because damaged data must not fill the memory.
    private static let mostUnknown = 1 << 18

    /// Begins with the path of a chunk.
    ///
    /// - Parameters:
    ///   - before: the thread as it was looked at before, which may know calls that the path leaves out.
    ///   - longTicks: calls that took at least this long are told of when they have ended.
    init?(_ chunk: LiveChunk, in buffers: LiveBuffers, after before: LiveReplay?, longTicks: UInt64) {
        let size = chunk.pathCount * MemoryLayout<PathEntry>.size
        guard let bytes = buffers.copy(0..<size, of: chunk) else { return nil }
        self.chunk = chunk
        state = State(lane: chunk.lane, calls: [], ticks: chunk.beginTicks)
        cursor = RecordCursor(
            UnsafeRawBufferPointer(start: nil, count: 0), ticks: chunk.beginTicks, functionBase: chunk.functionBase)
        hasMissedRecords = before != nil
        found.longTicks = longTicks
        read = size
        let path = bytes.withUnsafeBytes { Array($0.bindMemory(to: PathEntry.self)) }
        state.calls = LiveReplay.unlisted(path.first, of: chunk, known: before?.calls(ofLane: chunk.lane) ?? [])
        for (index, entry) in path.enumerated() {
            state.calls.append(
                LiveCall(
                    function: entry.function, callSite: entry.callSite, enterTicks: entry.enterTicks,
                    isInherited: chunk.depth - chunk.pathCount + index < chunk.inherited))
        }
        // Stacks that do not run keep their calls, unless they ran in between.
        if let before { state.parked = before.state.parked.filter { $0.key != chunk.lane } }
        if let before, before.state.lane != chunk.lane { state.parked[before.state.lane] = before.state.calls }
    }

    private func calls(ofLane lane: UInt32) -> [LiveCall] {
        lane == state.lane ? state.calls : state.parked[lane] ?? []
    }

    /// The calls that a chunk's path leaves out, which are the outermost. Where the outermost of those that it lists is
    /// already known, its callers are too: they have not changed as long as it has been open.
    private static func unlisted(_ first: PathEntry?, of chunk: LiveChunk, known: [LiveCall]) -> [LiveCall] {
        let count = chunk.depth - chunk.pathCount
        guard count > 0 else { return [] }
        if let first, count < known.count, known[count].function == first.function,
            known[count].enterTicks == first.enterTicks
        {
            return Array(known[..<count])
        }
        return Array(repeating: .unknown(at: chunk.beginTicks), count: min(count, mostUnknown))
    }

    /// Reads what the chunk has gained.
    ///
    /// - Returns: Whether it was still that chunk. If not, this is to be forgotten.
    mutating func go(on chunk: LiveChunk, in buffers: LiveBuffers) -> Bool {
        guard chunk.used >= read else { return false }
        let isSame = chunk.used == read && chunk.written == self.chunk.written
        if isSame { return true }
        guard let bytes = buffers.copy(read..<max(chunk.used, chunk.written), of: chunk),
            let after = buffers.again(chunk)
        else { return false }
        self.chunk = chunk
        let new = chunk.used - read
        bytes.withUnsafeBytes { bytes in
            LiveReplay.replay(UnsafeRawBufferPointer(rebasing: bytes[..<new]), &cursor, &state, &found)
            provisional = nil
            // Nothing is known of what is being taken back, or made final, during a look.
            guard bytes.count > new, after.used == chunk.used, after.written == chunk.written else { return }
            var tail = cursor, calls = state, none = Found()
            LiveReplay.replay(UnsafeRawBufferPointer(rebasing: bytes[new...]), &tail, &calls, &none)
            provisional = calls
        }
        read = chunk.used
        return true
    }

    /// Returns what was found, without the marks that it has returned before.
    mutating func take() -> LiveThread {
        let now = provisional ?? state
        defer {
            found.marks = []
            found.ended = []
            hasMissedRecords = false
        }
        return LiveThread(
            process: chunk.process, serial: chunk.thread, pid: chunk.pid, tid: chunk.tid, name: chunk.threadName,
            lane: now.lane, calls: now.calls, parked: now.parked.filter { !$0.value.isEmpty }, lastTicks: now.ticks,
            marks: found.marks, ended: found.ended, hasMissedRecords: hasMissedRecords)
    }

    /// Reads what the chunk has gained since, now that its thread has left it, if it is still there.
    mutating func finish(in buffers: LiveBuffers) -> Bool {
        buffers.again(chunk).map { go(on: $0, in: buffers) } ?? false
    }

    /// Takes what the replay of the thread's chunk before has found and the caller has not taken.
    ///
    /// - Parameters:
    ///   - marks: those of chunks in between.
    ///   - isWhole: whether nothing is missing.
    mutating func take(over before: LiveReplay, marks: [LiveMark], isWhole: Bool) {
        found.marks = before.found.marks + marks + found.marks
        found.ended = before.found.ended + found.ended
        hasMissedRecords = !isWhole
    }

    private static func replay(
        _ records: UnsafeRawBufferPointer, _ cursor: inout RecordCursor, _ state: inout State,
        _ found: inout Found
    ) {
        cursor.go(on: records)
        reading: while true {
            switch cursor.next() {
            case .enter:
                let caller = state.calls.last
                let site = cursor.callSite(
                    callerFunction: caller?.function ?? 0, callerSite: caller?.callSite ?? 0)
                state.calls.append(
                    LiveCall(function: cursor.function, callSite: site, enterTicks: cursor.ticks))
            case .exit: end(1, at: cursor.ticks, &state, &found)
            case .unwind: end(Int(cursor.count), at: cursor.ticks, &state, &found)
            case .lane:
                if cursor.lane != state.lane {
                    state.parked[state.lane] = state.calls
                    state.lane = cursor.lane
                    state.calls = state.parked.removeValue(forKey: cursor.lane) ?? []
                }
                let depth = Int(cursor.count)
                if depth < state.calls.count { state.calls.removeLast(state.calls.count - depth) }
                while state.calls.count < min(depth, mostUnknown) { state.calls.append(.unknown(at: cursor.ticks)) }
            case .told:
                if case .mark(let name) = cursor.told { found.marks.append(LiveMark(name: name, ticks: cursor.ticks)) }
            case .dropped, .task: break
            case .end, .malformed: break reading
            }
        }
        state.ticks = cursor.ticks
    }

    private static func end(_ count: Int, at ticks: UInt64, _ state: inout State, _ found: inout Found) {
        for _ in 0..<min(count, state.calls.count) {
            let call = state.calls.removeLast()
            if ticks &- call.enterTicks >= found.longTicks, ticks > call.enterTicks {
                found.ended.append(LiveEnd(call: call, ticks: ticks))
            }
        }
    }

    /// The marks of a finished chunk; nil when it is not there any more.
    static func marks(of chunk: LiveChunk, in buffers: LiveBuffers) -> [LiveMark]? {
        let start = chunk.pathCount * MemoryLayout<PathEntry>.size
        guard chunk.used >= start, let bytes = buffers.copy(start..<chunk.used, of: chunk), buffers.again(chunk) != nil
        else { return nil }
        var state = State(lane: chunk.lane, calls: [], ticks: chunk.beginTicks), found = Found()
        var cursor = RecordCursor(
            UnsafeRawBufferPointer(start: nil, count: 0), ticks: chunk.beginTicks, functionBase: chunk.functionBase)
        bytes.withUnsafeBytes { replay($0, &cursor, &state, &found) }
        return found.marks
    }
}
