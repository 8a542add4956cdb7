internal import CTraceFormat

/// Writes records as the runtime does, into chunks in memory. Times are nanoseconds since the session's start, and are
/// read back as the same.
public final class JoinedChunks {
    /// The finished ones.
    public private(set) var chunks: [Chunk] = []
    /// Records of the chunk being written, and its open calls.
    public private(set) var bytes: [UInt8] = []
    public private(set) var depth: UInt32 = 0
    /// Of the last record, in ticks.
    public private(set) var time: UInt64 = 0
    private let name: String
    private let clock: Clock
    private var lane: UInt32 = 0
    private var depths: [UInt32: UInt32] = [:]
    private var base: UInt64?
    private var calls: UInt64 = 0
    private var begin: (time: UInt64, depth: UInt32, lane: UInt32) = (0, 0, 0)
    /// What is open where the chunk begins, when it says so: three words a call.
    private var path: [UInt64] = []
    private var memory: [UnsafeMutableRawPointer] = []

    /// Bytes after which a chunk is finished.
    private static let chunkSize = 1 << 18

    /// - Parameter name: of the thread.
    public init(name: String, clock: Clock) {
        self.name = name
        self.clock = clock
    }

    deinit { for piece in memory { piece.deallocate() } }

    /// A call of `function` from `callSite`, whose caller is `caller` or, as 0, not known.
    public func enter(_ function: UInt64, callSite: UInt64, caller: UInt64, at time: UInt64) {
        finishIfFull()
        let delta = advance(to: time)
        if function >> 32 != base {
            base = function >> 32
            special(FATHOM_BASE)
            append(UInt32(truncatingIfNeeded: function >> 32))
        }
        var offset = callSite &- caller
        if caller == 0 || offset >= UInt64(FATHOM_SITE_SAME) {
            offset = 0
            special(FATHOM_SITE)
            append(callSite)
        }
        append(1 | delta << 1 | offset << 16 | function << 32)
        depth += 1
        calls += 1
    }

    /// The innermost open call ends.
    public func exit(at time: UInt64) {
        append(UInt16(truncatingIfNeeded: advance(to: time) << 1))
        depth -= 1
    }

    /// The innermost open call ends without its exit.
    public func unwind(at time: UInt64) {
        moveOn(to: time)
        special(FATHOM_UNWIND)
        append(UInt32(1))
        depth -= 1
    }

    /// A call is open that was entered before recording was started. Only where a chunk begins can that be told.
    ///
    /// - Parameter ticks: when it was entered.
    public func inherit(_ function: UInt64, callSite: UInt64, enterTicks ticks: UInt64, at time: UInt64) {
        guard bytes.isEmpty, path.count == 3 * depth else {
            enter(function, callSite: callSite, caller: 0, at: time)
            return
        }
        self.time = max(self.time, self.ticks(at: time))
        begin.time = self.time
        path += [function, callSite, ticks]
        depth += 1
        begin.depth = depth
    }

    /// Recording was stopped: what is open is not known to have gone on.
    public func stop(at time: UInt64) {
        guard depth > 0 || depths.values.contains(where: { $0 > 0 }) else { return }
        moveOn(to: time)
        finishChunk(UInt8(FATHOM_FLAG_STOPPED))
        depths = [:]
        depth = 0
        begin.depth = 0
    }

    /// Callees of the innermost open call, `duration` ns long, were left out.
    public func drop(calls: UInt32, duration: UInt64) {
        special(FATHOM_DROPPED)
        append(calls)
        append(clock.ticks(at: duration) &- clock.ticks(at: 0))
    }

    /// Something happened within the innermost open call: a mark named `name`, or a counter has `value`.
    public func event(_ name: UInt32, value: Double?, at time: UInt64) {
        moveOn(to: time)
        special(value == nil ? FATHOM_MARK : FATHOM_COUNTER)
        append(name)
        if let value { append(value.bitPattern) }
    }

    /// The calls that follow are of `lane`.
    public func run(lane: UInt32, at time: UInt64) {
        depths[self.lane] = depth
        self.lane = lane
        depth = depths.removeValue(forKey: lane) ?? 0
        if bytes.isEmpty, path.isEmpty, depth == 0, depths.values.allSatisfy({ $0 == 0 }) {
            begin.lane = lane
            return
        }
        moveOn(to: time)
        special(FATHOM_LANE)
        append(lane)
        append(depth)
    }

    /// Records that others wrote: those of `other` from `start` on, with which ``mark(at:)`` began, up to `end`.
    public func append(
        _ other: JoinedChunks, _ range: Range<Int>, calls: UInt64, depth: UInt32, from: UInt64, to: UInt64
    ) {
        finishIfFull()
        moveOn(to: from)
        bytes.append(contentsOf: other.bytes[range])
        time = max(to, time)
        base = nil
        self.calls += calls
        self.depth += depth
    }

    /// Begins records that can be read by themselves, from `time` on; returns where.
    public func mark(at time: UInt64) -> Int {
        self.time = ticks(at: time)
        base = nil
        return bytes.count
    }

    /// The last chunk ends at `time`, or when its last record says. `lost` calls are missing.
    public func finish(at time: UInt64, lost: UInt64 = 0) {
        moveOn(to: time)
        if !bytes.isEmpty || !path.isEmpty || lost > 0 || chunks.isEmpty {
            finishChunk(UInt8(FATHOM_FLAG_LAST), lost: lost)
        }
    }

    // MARK: Chunks

    private func finishIfFull() {
        if bytes.count >= JoinedChunks.chunkSize, !name.isEmpty { finishChunk(0) }
    }

    private func finishChunk(_ flags: UInt8, lost: UInt64 = 0) {
        var header = fathom_chunk()
        header.magic = FATHOM_CHUNK_MAGIC
        header.kind = UInt8(FATHOM_CHUNK_RECORDS)
        header.flags = flags | (path.isEmpty ? 0 : UInt8(FATHOM_FLAG_PATH))
        header.thread = 1
        header.sequence = UInt64(chunks.count)
        header.begin_ticks = begin.time
        header.end_ticks = max(time, 1)
        header.calls = calls
        header.lost_calls = lost
        header.depth = begin.depth
        header.path_count = UInt32(path.count / 3)
        header.inherited = UInt32(path.count / 3)
        header.lane = begin.lane
        let pathSize = path.count * MemoryLayout<UInt64>.size
        header.used = UInt32(pathSize + bytes.count)
        withUnsafeMutableBytes(of: &header.name) { field in
            for (index, byte) in name.utf8.prefix(field.count - 1).enumerated() { field[index] = byte }
        }
        let size = Chunk.headerSize + pathSize + bytes.count
        let piece = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        piece.storeBytes(of: header, as: fathom_chunk.self)
        path.withUnsafeBytes {
            if $0.count > 0 { (piece + Chunk.headerSize).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
        bytes.withUnsafeBytes {
            let records = piece + Chunk.headerSize + pathSize
            if $0.count > 0 { records.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
        memory.append(piece)
        if let chunk = Chunk(at: piece, available: size, file: "", offset: 0) { chunks.append(chunk) }
        bytes.removeAll(keepingCapacity: true)
        path.removeAll(keepingCapacity: true)
        base = nil
        calls = 0
        begin = (time, depth, lane)
    }

    // MARK: Records

    /// The delta of an enter or exit, after a record of its own when it is too long.
    private func advance(to moment: UInt64) -> UInt64 {
        let time = ticks(at: moment)
        guard time > self.time else { return 0 }
        let delta = time - self.time
        guard delta < UInt64(FATHOM_DELTA_LIMIT) else {
            moveOn(to: moment)
            return 0
        }
        self.time = time
        return delta
    }

    /// The first tick that is no earlier.
    private func ticks(at moment: UInt64) -> UInt64 {
        let ticks = clock.ticks(at: moment)
        return clock.nanoseconds(at: ticks) < moment ? ticks &+ 1 : ticks
    }

    private func moveOn(to moment: UInt64) {
        let time = ticks(at: moment)
        guard time > self.time else { return }
        let delta = time - self.time
        special(FATHOM_TIME)
        append(UInt32(truncatingIfNeeded: delta))
        append(UInt16(truncatingIfNeeded: delta >> 32))
        self.time = time
    }

    private func special(_ value: UInt32) { append(UInt16(value << 1)) }

    private func append<Number: FixedWidthInteger>(_ value: Number) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
