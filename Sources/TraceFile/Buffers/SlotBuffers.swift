internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Copies of the chunks in the shared buffers, which the recorder had no chance to write to the log.
///
/// Every slot is copied, because processes may still be writing.
final class SlotBuffers {
    static let name = SessionFile.buffers.name

    let header: FileHeader?
    /// The number of calls lost by processes that never got a slot.
    let unplacedCalls: UInt64
    /// The id of the recorder that was at work, or was killed, when the file was read.
    let recorderPID: UInt32
    private(set) var chunks: [Chunk] = []
    private var copies: [UnsafeMutableRawBufferPointer] = []

    /// Copies the chunks of all slots that are owned or full.
    ///
    /// - Parameter readsCalls: whether chunks of records are copied, and not only metadata.
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    init(_ file: PlainFile, path: String, damage: DamageLog, readsCalls: Bool = true) throws(TraceFileError) {
        guard let raw = try SlotBuffers.header(file, path: path, damage: damage) else {
            (header, unplacedCalls, recorderPID) = (nil, 0, 0)
            return
        }
        header = FileHeader(
            clock: raw.clock, startTicks: raw.start_ticks, startNanoseconds: raw.start_ns,
            ticksPerSecond: raw.ticks_per_second, startRealtimeNanoseconds: 0)
        unplacedCalls = raw.unplaced_calls
        recorderPID = raw.recorder_pid
        let slotSize = Int(raw.slot_size)
        var words = [UInt32](repeating: 0, count: Int(min(raw.slot_high, FATHOM_SLOT_LIMIT)))
        guard words.withUnsafeMutableBytes({ file.read($0, at: Int(raw.words_offset)) }) else {
            damage.report(Damage(file: SlotBuffers.name, offset: 0, lostBytes: UInt64(file.size), kind: .truncated))
            return
        }
        var living = LivingProcesses()
        func isAlive(_ pid: UInt32) -> Bool { living.contains(pid) }
        let begin = SystemClock.monotonic
        for offset in SlotBuffers.offsets(of: words, raw, file) {
            guard
                let copy = SlotBuffers.copy(
                    file, at: offset, slotSize: slotSize, damage: damage, readsCalls: readsCalls, isAlive: isAlive)
            else { continue }
            copies.append(copy.bytes)
            chunks.append(copy.chunk)
        }
        guard raw.ring_slots != 0 else { return }
        let copying = begin...SystemClock.monotonic
        let kept = RingChunks.settle(
            &copies, keeping: raw.ring_ticks, ticksPerSecond: raw.ticks_per_second, copying: copying)
        chunks = zip(copies, chunks).enumerated().compactMap { index, copy in
            !kept[index]
                ? nil
                : Chunk(
                    at: copy.0.baseAddress!, available: copy.0.count, used: copy.0.count - Chunk.headerSize,
                    file: SlotBuffers.name,
                    offset: copy.1.offset)
        }
    }

    deinit {
        for copy in copies { copy.deallocate() }
    }

    /// Where the slots are that are in use, in the order in which they are to be copied.
    private static func offsets(of words: [UInt32], _ raw: fathom_buffers, _ file: PlainFile) -> [Int] {
        let slots = words.indices.filter {
            [FATHOM_SLOT_OWNED, FATHOM_SLOT_FULL].contains(fathom_slot_state(words[$0]))
        }
        func offset(_ slot: Int) -> Int { Int(raw.slots_offset) + Int(raw.slot_size) * slot }
        if raw.keeps != 0 {
            // Paths are made after those of their callers. A thread's later paths are copied first, so what a live thread
            // adds up meanwhile makes callees look no longer than their callers.
            let sequences = slots.map { slot in
                var header = fathom_chunk()
                return (offset: offset(slot), sequence: file.read(&header, at: offset(slot)) ? header.sequence : 0)
            }
            return sequences.sorted { $0.sequence > $1.sequence }.map(\.offset)
        }
        var ends = [UInt32](repeating: 0, count: words.count)
        guard raw.ring_slots != 0,
            ends.withUnsafeMutableBytes({ file.read($0, at: Int(fathom_ends_offset(raw.words_offset))) })
        else { return slots.map(offset) }
        // Where a ring is written over meanwhile, it is from its oldest chunk on. The newest are copied first, so that those
        // are lost that others lead away from, and not those in between.
        func end(_ slot: Int) -> UInt32 { fathom_slot_state(words[slot]) == FATHOM_SLOT_FULL ? ends[slot] : .max }
        return slots.sorted { end($0) > end($1) }.map(offset)
    }

    /// The head of the file; nil, and damage reported, when it cannot be one.
    static func header(
        _ file: PlainFile, path: String, damage: DamageLog
    ) throws(TraceFileError) -> fathom_buffers? {
        let size = MemoryLayout<fathom_buffers>.size
        guard file.size >= size else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(file.size), kind: .fileHeader))
            return nil
        }
        var raw = fathom_buffers()
        _ = file.read(&raw, at: 0)
        // What versions 4 and 5 have besides is nothing to a reader.
        let isKnown = (3...FATHOM_BUFFERS_VERSION).contains(raw.version)
        if raw.magic == FATHOM_BUFFERS_MAGIC, !isKnown, raw.version < 1 << 16 {
            throw .unsupportedVersion(path: path, found: raw.version, supported: FATHOM_BUFFERS_VERSION)
        }
        let plausible =
            Int(raw.header_size) == (raw.version < 5 ? Int(FATHOM_BUFFERS_OLD_SIZE) : size)
            && Int(raw.chunk_header_size) == Chunk.headerSize
            && raw.slot_size >= 4096 && raw.slot_size % 4096 == 0 && raw.words_offset % 4 == 0
            && UInt32(raw.clock) <= FATHOM_CLOCK_COUNTER && raw.slot_high <= FATHOM_SLOT_LIMIT
        guard raw.magic == FATHOM_BUFFERS_MAGIC, isKnown, plausible else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(file.size), kind: .fileHeader))
            return nil
        }
        return raw
    }

    /// Copies one slot: first `used`, then the bytes that it counts. Then looks whether the slot has changed hands
    /// meanwhile.
    private static func copy(
        _ file: PlainFile, at offset: Int, slotSize: Int, damage: DamageLog, readsCalls: Bool,
        isAlive: (_ pid: UInt32) -> Bool
    ) -> (chunk: Chunk, bytes: UnsafeMutableRawBufferPointer)? {
        var header = fathom_chunk()
        // A chunk that is just being begun has no magic yet.
        guard file.read(&header, at: offset), header.magic == FATHOM_CHUNK_MAGIC else { return nil }
        func fail() -> (Chunk, UnsafeMutableRawBufferPointer)? {
            damage.report(
                Damage(file: name, offset: UInt64(offset), lostBytes: UInt64(slotSize), kind: .chunkHeader))
            return nil
        }
        if !readsCalls, UInt32(header.kind) == FATHOM_CHUNK_RECORDS { return nil }
        if UInt32(header.kind) == FATHOM_CHUNK_STACK { return nil }
        while true {
            // Records that may yet be taken back count when no thread is left to take them back.
            let used = !isAlive(header.pid) ? fathom_chunk_written(&header) : header.used
            fathom_load_fence()
            guard fathom_chunk_is_sound(&header, used, UInt32(slotSize), 0, .max) != 0 else { return fail() }
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Chunk.headerSize + Int(used), alignment: 8)
            var taken = fathom_chunk()
            let isCopied = file.read(bytes, at: offset)
            fathom_load_fence()
            guard isCopied, file.read(&taken, at: offset) else {
                bytes.deallocate()
                return fail()
            }
            let changed =
                header.magic != taken.magic || header.process != taken.process || header.thread != taken.thread
                || header.sequence != taken.sequence
            // It was finished meanwhile, so it may have grown. From now on it stays as it is.
            if !changed, header.end_ticks == 0, taken.end_ticks != 0 {
                bytes.deallocate()
                header = taken
                continue
            }
            // The header in the copy may be younger than `used`.
            bytes.storeBytes(of: header, as: fathom_chunk.self)
            let chunk =
                changed
                ? nil
                : Chunk(
                    at: bytes.baseAddress!, available: bytes.count, used: Int(used), file: name, offset: UInt64(offset))
            guard let chunk else {
                bytes.deallocate()
                return changed ? nil : fail()
            }
            return (chunk, bytes)
        }
    }
}
