import CTraceFormat
import Glibc
import TestSupport

@testable import TraceRecording

/// A session that is being recorded, and a program's side of its buffers.
struct Recording {
    let directory: SessionDirectory
    let clock: SessionClock
    let buffers: SharedBuffers
    let log: TraceLog

    init(in path: String, clock: SessionClock = SessionClock(), startsPaused: Bool = false) throws {
        var clock = clock
        clock.calibrate()
        self.clock = clock
        directory = try SessionDirectory(creating: path)
        let options = RecordingOptions(
            executable: "/bin/true", arguments: ["true"], session: path, maxDepth: 7, minCost: 1000,
            bufferSize: 16 * 1024, startsPaused: startsPaused)
        buffers = try SharedBuffers(in: directory, options: options, clock: clock)
        log = try TraceLog(in: directory, clock: clock, startRealtime: 0)
    }

    func drain(maxSize: UInt64? = nil) -> Drain {
        Drain(buffers: buffers, log: log, clock: clock, maxSize: maxSize)
    }

    /// A chunk's header as a runtime writes it now: finished unless `isOpen`.
    func header(_ used: Int, process: UInt32 = 0, pid: Int32 = getpid(), isOpen: Bool = false) -> fathom_chunk {
        var chunk = fathom_chunk()
        chunk.magic = FATHOM_CHUNK_MAGIC
        chunk.kind = UInt8(FATHOM_CHUNK_RECORDS)
        (chunk.process, chunk.thread, chunk.pid, chunk.tid) = (process, 1, UInt32(pid), UInt32(pid))
        chunk.begin_ticks = clock.now
        chunk.begin_ns = SessionClock.nanoseconds(CLOCK_MONOTONIC)
        if !isOpen { (chunk.end_ticks, chunk.end_ns) = (clock.now, chunk.begin_ns) }
        (chunk.used, chunk.capacity) = (UInt32(used), UInt32(buffers.slotSize))
        return chunk
    }

    /// Puts a chunk into a slot, as a program would.
    func put(_ chunk: fathom_chunk, _ records: [UInt8] = [], into slot: Int, state: UInt32) {
        let base = UnsafeMutableRawPointer(buffers.header)
        let place = base + Int(buffers.header.pointee.slots_offset) + slot * buffers.slotSize
        place.storeBytes(of: chunk, as: fathom_chunk.self)
        (place + MemoryLayout<fathom_chunk>.size).copyMemory(from: records, byteCount: records.count)
        word(of: slot).pointee = chunk.process << 2 | state
        buffers.header.pointee.slot_high = max(buffers.header.pointee.slot_high, UInt32(slot + 1))
    }

    func word(of slot: Int) -> UnsafeMutablePointer<UInt32> {
        let base = UnsafeMutableRawPointer(buffers.header) + Int(buffers.header.pointee.words_offset)
        return base.assumingMemoryBound(to: UInt32.self) + slot
    }

    /// The chunks' headers that the log holds, whatever its own header says.
    func logged() throws -> [fathom_chunk] {
        let bytes = try readFile(directory.file("trace"))
        var chunks: [fathom_chunk] = [], offset = MemoryLayout<fathom_trace_header>.size
        while offset + MemoryLayout<fathom_chunk>.size <= min(bytes.count, Int(log.bytes)) {
            let chunk = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: fathom_chunk.self) }
            chunks.append(chunk)
            offset += Int(TraceLog.size(of: chunk))
        }
        return chunks
    }
}

/// Enter and exit records of `calls` calls that call nothing.
func records(_ calls: Int) -> [UInt8] {
    var writer = RecordWriter(time: 0)
    for call in 0..<calls {
        writer.enter(0x1000, at: UInt64(2 * call))
        writer.exit(at: UInt64(2 * call + 1))
    }
    return writer.bytes
}
