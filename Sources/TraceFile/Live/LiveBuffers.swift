internal import CTraceFormat
internal import Glibc

/// The shared buffers of a session that is being recorded, looked at again and again.
///
/// The program is not asked and not stopped: it writes on while this reads. What a thread has counted in `used` is
/// whole, so a look sees each thread as it was at some moment within the look.
package final class LiveBuffers {
    /// What the head of the file says that never changes.
    package let clock: Clock
    /// Whether ticks are the processor's counter, and not ns of CLOCK_MONOTONIC.
    private let countsByCounter: Bool
    private let file: PlainFile
    private let head: fathom_buffers
    private var words: [UInt32] = []

    /// - Parameter directory: that of the session.
    /// - Throws: ``TraceFileError`` when there are no buffers that this can read, as in a session that has ended.
    package init(of directory: String) throws(TraceFileError) {
        let path = "\(directory)/\(SessionFile.buffers.name)"
        file = try PlainFile(path: path)
        guard let head = try SlotBuffers.header(file, path: directory, damage: DamageLog()) else {
            throw .noHeader(path: directory)
        }
        self.head = head
        countsByCounter = UInt32(head.clock) == FATHOM_CLOCK_COUNTER
        guard countsByCounter else {
            clock = Clock(monotonicFrom: head.start_ticks)
            return
        }
        // The recorder measured the rate over a millisecond. By now a longer stretch is there, if this is the machine that
        // the session is recorded on.
        let now = SessionClock.pair
        let ticks = now.ticks &- head.start_ticks, nanoseconds = now.nanoseconds &- head.start_ns
        let measured = Clock(startTicks: head.start_ticks, ticks: head.ticks_per_second, nanoseconds: 1_000_000_000)
        let expected = Double(measured.nanoseconds(in: ticks))
        let isPlausible = nanoseconds > 10_000_000 && abs(expected - Double(nanoseconds)) < expected / 100
        clock =
            isPlausible ? Clock(startTicks: head.start_ticks, ticks: ticks, nanoseconds: nanoseconds) : measured
    }

    /// This moment, in ticks.
    package var now: UInt64 { SessionClock.ticks(byCounter: countsByCounter) }

    /// What programs keep of calls.
    package var content: SessionContent {
        switch UInt32(head.keeps) {
        case FATHOM_KEEPS_COUNTS: .counts
        case FATHOM_KEEPS_TIMES: .paths
        case FATHOM_KEEPS_SAMPLES: .samples(period: 0)
        default: .calls
        }
    }

    /// Whether finished chunks stay in the buffers, which are a ring.
    package var isRing: Bool { head.ring_slots != 0 }

    /// The recorder's process; 0 once it has left.
    package var recorder: Int32 {
        var head = fathom_buffers()
        return file.read(&head, at: 0) ? Int32(bitPattern: head.recorder_pid) : 0
    }

    /// The chunks that threads write now. A thread has one or, where it keeps call paths, several; it has none in the moment
    /// between two, and before its first call.
    ///
    /// - Complexity: O(slots that were ever used) to look at their words, and a system call for each chunk.
    package func chunks() -> [LiveChunk] { chunks(in: FATHOM_SLOT_OWNED) }

    /// Returns the finished chunks in the buffers: all chunks of a ring, otherwise those that the recorder has not fetched yet.
    package func finishedChunks() -> [LiveChunk] { chunks(in: FATHOM_SLOT_FULL) }

    /// Since when recording is stopped by `fathom ctl`, in ticks; nil while it is not.
    package var stoppedTicks: UInt64? {
        var steering = fathom_steering()
        let isRead = file.read(&steering, at: Int(head.slots_offset) - Int(FATHOM_STEERING_SIZE))
        return isRead && steering.wish.run_number != 0 && steering.wish.runs == 0 ? steering.wish.run_ticks : nil
    }

    /// Where the open calls of threads are, if they show that.
    ///
    /// - Complexity: as for ``chunks()``.
    package func stacks() -> [LiveStack] {
        chunks(in: FATHOM_SLOT_OWNED, showing: true).compactMap { chunk in
            var stack = fathom_stack()
            return file.read(&stack, at: chunk.offset + Chunk.headerSize) ? LiveStack(chunk, stack) : nil
        }
    }

    private func chunks(in state: UInt32, showing: Bool = false) -> [LiveChunk] {
        var head = fathom_buffers()
        guard file.read(&head, at: 0) else { return [] }
        words = [UInt32](repeating: 0, count: Int(min(head.slot_high, FATHOM_SLOT_LIMIT)))
        guard words.withUnsafeMutableBytes({ file.read($0, at: Int(head.words_offset)) }) else { return [] }
        return words.indices.compactMap { slot in
            guard fathom_slot_state(words[slot]) == state else { return nil }
            let chunk = chunk(at: Int(self.head.slots_offset) + slot * Int(self.head.slot_size))
            return chunk.flatMap { $0.isMetadata || $0.showsStack != showing ? nil : $0 }
        }
    }

    private func chunk(at offset: Int) -> LiveChunk? {
        var header = fathom_chunk()
        // A chunk that is just being begun has no magic yet.
        guard file.read(&header, at: offset), header.magic == FATHOM_CHUNK_MAGIC else { return nil }
        fathom_load_fence()
        return LiveChunk(header, slotSize: head.slot_size, offset: offset)
    }

    /// Reads the chunk as it is now; nil when its slot holds another one.
    package func again(_ chunk: LiveChunk) -> LiveChunk? {
        fathom_load_fence()
        return self.chunk(at: chunk.offset).flatMap { $0.isSameChunk(as: chunk) ? $0 : nil }
    }

    /// Copies a part of a chunk's payload. Only ``again(_:)`` tells whether it still was that chunk's.
    package func copy(_ range: Range<Int>, of chunk: LiveChunk) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let offset = chunk.offset + Chunk.headerSize + range.lowerBound
        return bytes.withUnsafeMutableBytes { file.read($0, at: offset) } ? bytes : nil
    }
}
