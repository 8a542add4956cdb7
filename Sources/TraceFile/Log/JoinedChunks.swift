internal import CTraceFormat
internal import Glibc

/// Writes records as the runtime does, into chunks in memory. Times are ticks of the session's clock.
///
/// - Complexity: O(1) a record.
public final class JoinedChunks {
    /// The chunks that are finished.
    public private(set) var chunks: [Chunk] = []
    private let name: String
    private var lane: UInt32 = 0
    private var depths: [UInt32: UInt32] = [:]
    private var begin: (time: UInt64, depth: UInt32, lane: UInt32) = (0, 0, 0)
    /// The calls open where the chunk begins, when it tells them: three words a call.
    private var path: [UInt64] = []
    private var memory: [UnsafeMutableRawPointer] = []
    /// Kept outside the object, because Swift would check every access to the object's own properties for exclusivity.
    private let state: UnsafeMutablePointer<State>

    /// The state of the chunk that is being written.
    private struct State {
        var records: UnsafeMutableRawPointer?
        var count = 0
        var capacity = 0
        /// The time of the last record, in ticks.
        var time: UInt64 = 0
        var base = UInt64.max
        var depth: UInt32 = 0
        /// The number of calls in the chunk, and in all chunks.
        var calls: UInt64 = 0
        var total: UInt64 = 0
        /// The offset of the last of ``joints``.
        var joint = 0
    }

    /// When a chunk has this many bytes it is finished; records for others get a place where they can be divided.
    private static let chunkSize = 1 << 18
    /// More bytes than the records of one call take.
    private static let room = Int(FATHOM_RECORD_LIMIT)

    /// Where a stretch of records begins or ends.
    public struct Position: BitwiseCopyable {
        /// How many bytes, ticks and calls there were so far, and how many calls were open.
        public var offset = 0
        public var time: UInt64 = 0
        public var calls: UInt64 = 0
        public var depth: UInt32 = 0
        /// The number of places before it where the records can be divided.
        public var joints = 0
    }

    /// - Parameter name: the thread's name; nil for records that are to be appended to others.
    public init(name: String?) {
        self.name = name ?? ""
        isForOthers = name == nil
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    private let isForOthers: Bool
    /// Places where records for others can be divided. Stretches begin there as well.
    private var joints: [Position] = []

    deinit {
        for piece in memory { piece.deallocate() }
        free(state.pointee.records)
        state.deallocate()
    }

    // MARK: Calls

    /// Writes a call of `function` from `callSite`. Its caller is `caller`, or 0 when that is not known, which was
    /// called from `callerSite`.
    public func enter(_ function: UInt64, callSite: UInt64, caller: UInt64 = 0, callerSite: UInt64 = 0, at time: UInt64)
    {
        finishIfFull()
        // A reader of a SITE record that says 0 would take the caller's address.
        let callSite = max(callSite, 1)
        let site = caller == 0 ? FATHOM_SITE_FAR : fathom_site_field(callSite, caller, callerSite)
        write { fathom_put_call($0, function, callSite, site, advance(to: time), &state.pointee.base) }
        state.pointee.depth &+= 1
        state.pointee.calls &+= 1
        state.pointee.total &+= 1
    }

    /// Ends the innermost open call.
    public func exit(at time: UInt64) {
        var delta = advance(to: time)
        write { fathom_put_exit(fathom_put_delta($0, &delta), delta) }
        state.pointee.depth &-= 1
    }

    /// Ends the innermost open call without its exit.
    public func unwind(at time: UInt64) {
        moveOn(to: time)
        write { fathom_put_unwind($0, 1) }
        state.pointee.depth &-= 1
    }

    /// Tells that a call is open that was entered at `entered`, before recording was started. That can be told only
    /// where a chunk begins.
    public func inherit(_ function: UInt64, callSite: UInt64, entered: UInt64, at time: UInt64) {
        guard state.pointee.count == 0, path.count == 3 * state.pointee.depth else {
            enter(function, callSite: callSite, at: time)
            return
        }
        state.pointee.time = max(state.pointee.time, time)
        path += [function, callSite, entered]
        state.pointee.depth += 1
        begin.time = state.pointee.time
        begin.depth = state.pointee.depth
    }

    /// Ends all open calls, because recording was stopped and it is unknown whether they went on.
    public func stop(at time: UInt64) {
        guard state.pointee.depth > 0 || depths.values.contains(where: { $0 > 0 }) else { return }
        moveOn(to: time)
        finishChunk(UInt8(FATHOM_FLAG_STOPPED))
        depths = [:]
        state.pointee.depth = 0
        begin.depth = 0
    }

    /// Writes that callees of the innermost open call, `duration` ticks long, were left out.
    public func drop(calls: UInt32, duration: UInt64) {
        write { fathom_put_dropped($0, calls, duration) }
    }

    /// Writes what is told within the innermost open call, page faults among it.
    public func tell(_ told: Told, at time: UInt64) {
        moveOn(to: time)
        write { told.put($0) }
    }

    /// The calls that follow are of `lane`.
    public func run(lane: UInt32, at time: UInt64) {
        let isUntouched = state.pointee.count == 0 && path.isEmpty && state.pointee.depth == 0
        depths[self.lane] = state.pointee.depth
        self.lane = lane
        state.pointee.depth = depths.removeValue(forKey: lane) ?? 0
        if isUntouched, depths.values.allSatisfy({ $0 == 0 }) {
            begin.lane = lane
            return
        }
        moveOn(to: time)
        write { fathom_put_lane($0, lane, state.pointee.depth) }
    }

    // MARK: Stretches

    /// Begins records that can be read by themselves, from `time` on.
    public func beginStretch(at time: UInt64) -> Position {
        state.pointee.time = time
        state.pointee.base = .max
        return position
    }

    /// The place after the last record.
    public var position: Position {
        Position(
            offset: state.pointee.count, time: state.pointee.time, calls: state.pointee.total,
            depth: state.pointee.depth, joints: joints.count)
    }

    /// Appends records that others wrote: those of `other` from `start`, where a stretch begins, to `end`.
    public func append(_ other: JoinedChunks, from start: Position, to end: Position) {
        var from = start
        for joint in other.joints[start.joints..<end.joints] {
            copy(other, from: from, to: joint)
            from = joint
        }
        copy(other, from: from, to: end)
    }

    private func copy(_ other: JoinedChunks, from start: Position, to end: Position) {
        finishIfFull()
        moveOn(to: start.time)
        let size = end.offset - start.offset
        if size > 0 {
            reserve(size + JoinedChunks.room)
            (state.pointee.records! + state.pointee.count)
                .copyMemory(from: other.state.pointee.records! + start.offset, byteCount: size)
        }
        state.pointee.count += size
        state.pointee.time = max(end.time, state.pointee.time)
        state.pointee.base = .max
        state.pointee.calls &+= end.calls &- start.calls
        state.pointee.depth &+= end.depth &- start.depth
    }

    // MARK: Chunks

    /// Ends the last chunk at `time`, or where its last record ends if that is later. `lost` calls are missing.
    public func finish(at time: UInt64, lost: UInt64 = 0) {
        moveOn(to: time)
        if state.pointee.count > 0 || !path.isEmpty || lost > 0 || chunks.isEmpty {
            finishChunk(UInt8(FATHOM_FLAG_LAST), lost: lost)
        }
        free(state.pointee.records)
        state.pointee.records = nil
        state.pointee.capacity = 0
    }

    private func finishIfFull() {
        guard state.pointee.count - state.pointee.joint >= JoinedChunks.chunkSize else { return }
        guard isForOthers else { return finishChunk(0) }
        state.pointee.joint = state.pointee.count
        state.pointee.base = .max
        joints.append(position)
    }

    private func finishChunk(_ flags: UInt8, lost: UInt64 = 0) {
        var header = fathom_chunk()
        header.magic = FATHOM_CHUNK_MAGIC
        header.kind = UInt8(FATHOM_CHUNK_RECORDS)
        header.flags = flags | (path.isEmpty ? 0 : UInt8(FATHOM_FLAG_PATH))
        header.thread = 1
        header.sequence = UInt64(chunks.count)
        header.begin_ticks = begin.time
        header.end_ticks = max(state.pointee.time, 1)
        header.calls = state.pointee.calls
        header.lost_calls = lost
        header.depth = begin.depth
        header.path_count = UInt32(path.count / 3)
        header.inherited = UInt32(path.count / 3)
        header.lane = begin.lane
        let pathSize = path.count * MemoryLayout<UInt64>.size
        header.used = UInt32(pathSize + state.pointee.count)
        withUnsafeMutableBytes(of: &header.name) { field in
            for (index, byte) in name.utf8.prefix(field.count - 1).enumerated() { field[index] = byte }
        }
        let size = Chunk.headerSize + pathSize + state.pointee.count
        let piece = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        piece.storeBytes(of: header, as: fathom_chunk.self)
        path.withUnsafeBytes {
            if $0.count > 0 { (piece + Chunk.headerSize).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
        if let records = state.pointee.records {
            (piece + Chunk.headerSize + pathSize).copyMemory(from: records, byteCount: state.pointee.count)
        }
        memory.append(piece)
        if let chunk = Chunk(at: piece, available: size, file: "", offset: 0) { chunks.append(chunk) }
        path.removeAll(keepingCapacity: true)
        state.pointee.count = 0
        state.pointee.base = .max
        state.pointee.calls = 0
        begin = (state.pointee.time, state.pointee.depth, lane)
    }

    // MARK: Records

    /// Moves the time on; the ticks since the last record.
    private func advance(to time: UInt64) -> UInt64 {
        guard time > state.pointee.time else { return 0 }
        defer { state.pointee.time = time }
        return time - state.pointee.time
    }

    /// Moves the time on by a record of its own.
    private func moveOn(to time: UInt64) {
        let delta = advance(to: time)
        if delta > 0 { write { fathom_put_time($0, delta) } }
    }

    /// Appends what `encode` lays at the place it is given; it answers with the place behind.
    private func write(_ encode: (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer) {
        if state.pointee.count + JoinedChunks.room > state.pointee.capacity { reserve(JoinedChunks.room) }
        let place = state.pointee.records! + state.pointee.count
        state.pointee.count += encode(place) - place
    }

    private func reserve(_ size: Int) {
        guard state.pointee.count + size > state.pointee.capacity else { return }
        state.pointee.capacity = max(state.pointee.capacity * 2, state.pointee.count + size)
        guard let larger = realloc(state.pointee.records, state.pointee.capacity) else { fatalError("out of memory") }
        state.pointee.records = larger
    }
}
