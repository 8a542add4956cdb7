package import CTraceFormat
internal import Glibc
package import TraceFile

/// A session that is being recorded, and a program's side of its buffers.
package struct Recording {
    package let directory: SessionDirectory
    package let clock: SessionClock
    package let buffers: SharedBuffers
    package let log: TraceLogWriter

    package init(in path: String, startsPaused: Bool = false, packs: Bool = false) throws {
        var clock = SessionClock()
        clock.calibrate()
        self.clock = clock
        directory = try SessionDirectory(creating: path)
        var options = RecordOptions()
        (options.maxDepth, options.minCost, options.bufferSize) = (7, 1000, 16 * 1024)
        options.startsPaused = startsPaused
        buffers = try SharedBuffers(in: directory, options: options, clock: clock)
        log = try TraceLogWriter(in: directory, clock: clock, startRealtime: 0, packs: packs)
    }

    /// A chunk's header as a runtime writes it now: finished unless `isOpen`.
    package func header(_ used: Int, process: UInt32 = 0, pid: Int32 = getpid(), isOpen: Bool = false) -> fathom_chunk {
        var chunk = fathom_chunk()
        chunk.magic = FATHOM_CHUNK_MAGIC
        chunk.kind = UInt8(FATHOM_CHUNK_RECORDS)
        (chunk.process, chunk.thread, chunk.pid, chunk.tid) = (process, 1, UInt32(pid), UInt32(pid))
        chunk.begin_ticks = clock.now
        chunk.begin_ns = fathom_clock_time(CLOCK_MONOTONIC)
        if !isOpen { (chunk.end_ticks, chunk.end_ns) = (clock.now, chunk.begin_ns) }
        (chunk.used, chunk.capacity) = (UInt32(used), UInt32(buffers.slotSize))
        return chunk
    }

    /// Puts a chunk into a slot, as a program would.
    package func put(_ chunk: fathom_chunk, _ records: [UInt8] = [], into slot: Int, state: UInt32) {
        let base = UnsafeMutableRawPointer(buffers.header)
        let place = base + Int(buffers.header.pointee.slots_offset) + slot * buffers.slotSize
        place.storeBytes(of: chunk, as: fathom_chunk.self)
        (place + MemoryLayout<fathom_chunk>.size).copyMemory(from: records, byteCount: records.count)
        word(of: slot).pointee = chunk.process << 2 | state
        buffers.header.pointee.slot_high = max(buffers.header.pointee.slot_high, UInt32(slot + 1))
    }

    package func word(of slot: Int) -> UnsafeMutablePointer<UInt32> {
        let base = UnsafeMutableRawPointer(buffers.header) + Int(buffers.header.pointee.words_offset)
        return base.assumingMemoryBound(to: UInt32.self) + slot
    }

    /// The chunks' headers that the log holds, whatever its own header says.
    package func logged() throws -> [fathom_chunk] {
        let bytes = try readFile(directory.file("trace"))
        var chunks: [fathom_chunk] = [], offset = MemoryLayout<fathom_trace_header>.size
        while offset + MemoryLayout<fathom_chunk>.size <= min(bytes.count, Int(log.bytes)) {
            let chunk = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: fathom_chunk.self) }
            chunks.append(chunk)
            offset += Int(TraceLogWriter.size(of: chunk))
        }
        return chunks
    }
}

/// Enter and exit records of `calls` calls that call nothing.
package func records(_ calls: Int) -> [UInt8] {
    var writer = RecordWriter(time: 0)
    for call in 0..<calls {
        writer.enter(0x1000, at: UInt64(2 * call))
        writer.exit(at: UInt64(2 * call + 1))
    }
    return writer.bytes
}
