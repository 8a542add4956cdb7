internal import CTraceFormat

/// The shared buffers: chunks the recorder had no chance to write to the log.
///
/// Processes may still be writing, so every slot is copied.
final class SlotBuffers {
    static let name = "buffers"

    let header: FileHeader?
    /// Calls lost by processes that never got a slot.
    let unplacedCalls: UInt64
    /// The recorder was at work, or killed, when the file was read.
    let recorderPID: UInt32
    private(set) var chunks: [Chunk] = []
    private var copies: [UnsafeMutableRawPointer] = []

    /// Copies the chunks of all slots that are owned or full.
    ///
    /// - Throws: ``TraceFormatError/unsupportedVersion(path:found:supported:)``.
    init(_ file: MappedFile, path: String, damage: DamageLog) throws(TraceFormatError) {
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
        for index in 0..<Int(min(raw.slot_high, FATHOM_SLOT_LIMIT)) {
            let word = Int(raw.words_offset) + 4 * index
            let slot = Int(raw.slots_offset) + slotSize * index
            guard word + 4 <= file.size, slot + Chunk.headerSize <= file.size else { break }
            // FATHOM_SLOT_STATE, a macro that Swift does not see.
            let state = fathom_load32(file.start.advanced(by: word).pointer) & 3
            guard state == FATHOM_SLOT_OWNED || state == FATHOM_SLOT_FULL else { continue }
            let available = min(slotSize, file.size - slot)
            guard let copy = SlotBuffers.copy(file.start + slot, available: available, damage: damage, at: slot) else {
                continue
            }
            copies.append(copy.bytes)
            chunks.append(copy.chunk)
        }
    }

    deinit {
        for copy in copies { copy.deallocate() }
    }

    private static func header(
        _ file: MappedFile, path: String, damage: DamageLog
    ) throws(TraceFormatError) -> fathom_buffers? {
        let size = MemoryLayout<fathom_buffers>.size
        guard file.size >= size else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(file.size), kind: .fileHeader))
            return nil
        }
        let raw = file.start.loadUnaligned(as: fathom_buffers.self)
        if raw.magic == FATHOM_BUFFERS_MAGIC, raw.version != FATHOM_FORMAT_VERSION, raw.version < 1 << 16 {
            throw .unsupportedVersion(path: path, found: raw.version, supported: FATHOM_FORMAT_VERSION)
        }
        let plausible =
            Int(raw.header_size) == size && Int(raw.chunk_header_size) == Chunk.headerSize
            && raw.slot_size >= 4096 && raw.slot_size % 4096 == 0 && raw.words_offset % 4 == 0
            && UInt32(raw.clock) <= FATHOM_CLOCK_COUNTER && raw.slot_high <= FATHOM_SLOT_LIMIT
        guard raw.magic == FATHOM_BUFFERS_MAGIC, raw.version == FATHOM_FORMAT_VERSION, plausible else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(file.size), kind: .fileHeader))
            return nil
        }
        return raw
    }

    /// Copies one slot: `used` first, then the bytes it counts, then a look whether the slot changed hands meanwhile.
    private static func copy(
        _ slot: UnsafeRawPointer, available: Int, damage: DamageLog, at offset: Int
    ) -> (chunk: Chunk, bytes: UnsafeMutableRawPointer)? {
        let header = slot.assumingMemoryBound(to: fathom_chunk.self)
        guard fathom_load32(slot.pointer) == FATHOM_CHUNK_MAGIC else { return nil }
        let used = fathom_load32((slot + MemoryLayout<fathom_chunk>.offset(of: \.used)!).pointer)
        guard used <= header.pointee.capacity, Int(used) <= available - Chunk.headerSize else {
            damage.report(
                Damage(file: name, offset: UInt64(offset), lostBytes: UInt64(available), kind: .chunkHeader))
            return nil
        }
        let size = Chunk.headerSize + Int(used)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        bytes.copyMemory(from: slot, byteCount: size)
        fathom_load_fence()
        let taken = UnsafeRawPointer(bytes).loadUnaligned(as: fathom_chunk.self)
        let changed =
            header.pointee.magic != FATHOM_CHUNK_MAGIC || header.pointee.process != taken.process
            || header.pointee.thread != taken.thread || header.pointee.sequence != taken.sequence
        guard !changed else {
            bytes.deallocate()
            return nil
        }
        guard let chunk = Chunk(at: bytes, available: size, used: Int(used), file: name, offset: UInt64(offset)) else {
            damage.report(Damage(file: name, offset: UInt64(offset), lostBytes: UInt64(size), kind: .chunkHeader))
            bytes.deallocate()
            return nil
        }
        return (chunk, bytes)
    }
}

extension UnsafeRawPointer {
    fileprivate var pointer: UnsafePointer<UInt32> { assumingMemoryBound(to: UInt32.self) }
}
