internal import CTraceFormat

/// Makes a recording of its own out of the chunks that a ring holds: what was written over is as if it had never been
/// recorded.
///
/// Each thread's chunks are numbered from 0 again. The calls that are open when its first one begins are inherited, as
/// after a start in the midst of them: their time counts from there, because what they called before is not known.
enum RingChunks {
    /// Changes chunks in place, or lays one in memory of its own in place of another.
    ///
    /// Slots are used again in nearly the order in which chunks ended, not always exactly. So where several threads write, an old
    /// chunk may still be there when the one after it is not. Of each thread, the last chunks that follow each other without
    /// a gap stay.
    ///
    /// - Parameters:
    ///   - copies: the bytes of each chunk, header and payload, in memory of our own.
    ///   - ticks: what happened so long before the newest moment is left out.
    ///   - ticksPerSecond: of the clock.
    ///   - copying: when the chunks were copied, in ns of CLOCK_MONOTONIC. What began meanwhile is left out: the chunk before
    ///     it may have been copied when it was not yet full.
    /// - Returns: For each chunk, whether it stays.
    /// - Complexity: O(chunks · log chunks), and O(bytes) of two chunks of each thread where a time is to be kept.
    static func settle(
        _ copies: inout [UnsafeMutableRawBufferPointer], keeping ticks: UInt64, ticksPerSecond: UInt64,
        copying: ClosedRange<UInt64>
    ) -> [Bool] {
        let headers = copies.map { $0.loadUnaligned(as: fathom_chunk.self) }
        var newest: UInt64 = 0
        for (header, bytes) in zip(headers, copies) {
            newest = max(newest, header.begin_ticks, header.end_ticks)
            guard ticks != .max, UInt32(header.kind) == FATHOM_CHUNK_RECORDS, header.end_ticks == 0 else { continue }
            newest = max(newest, lastMoment(header, bytes))
        }
        var isKept = headers.map { UInt32($0.kind) != FATHOM_CHUNK_RECORDS }
        let candidates = headers.indices.filter { index in
            let header = headers[index]
            return !isKept[index] && !copying.contains(header.begin_ns)
                && (header.end_ticks == 0 || header.end_ticks >= newest || newest - header.end_ticks <= ticks)
        }
        for run in lastRuns(headers, candidates) {
            let first = headers[run[0]].sequence
            let begin = newest > ticks ? newest - ticks : 0
            let shorter = LateChunk.make(of: copies[run[0]], from: begin, ticksPerSecond: ticksPerSecond)
            if let shorter {
                copies[run[0]].deallocate()
                copies[run[0]] = shorter
            }
            for index in run {
                isKept[index] = true
                if index == run[0], shorter != nil {
                    var header = copies[index].loadUnaligned(as: fathom_chunk.self)
                    cut(&header, copies[index])
                    header.sequence = 0
                    copies[index].storeBytes(of: header, as: fathom_chunk.self)
                    continue
                }
                guard first > 0 else { continue }
                var header = headers[index]
                if header.sequence == first { cut(&header, copies[index]) }
                header.sequence -= first
                copies[index].storeBytes(of: header, as: fathom_chunk.self)
            }
        }
        return isKept
    }

    /// Of each thread, the last chunks whose numbers follow each other, as indices, the oldest first. A chunk that another
    /// one follows is whole: without its end, nothing leads from the chunks before it to those behind it.
    private static func lastRuns(_ headers: [fathom_chunk], _ candidates: [Int]) -> [[Int]] {
        let sorted = candidates.sorted {
            (thread(of: headers[$0]), headers[$0].sequence) < (thread(of: headers[$1]), headers[$1].sequence)
        }
        var runs: [[Int]] = []
        for index in sorted {
            let header = headers[index]
            guard let last = runs.last?.last, thread(of: headers[last]) == thread(of: header) else {
                runs.append([index])
                continue
            }
            // A program that wrote over a number may have made two chunks of one.
            if headers[last].sequence == header.sequence { continue }
            if headers[last].end_ticks != 0, header.sequence - headers[last].sequence == 1 {
                runs[runs.count - 1].append(index)
            } else {
                runs[runs.count - 1] = [index]
            }
        }
        return runs
    }

    /// When the last record happened of a chunk that is not finished.
    private static func lastMoment(_ header: fathom_chunk, _ bytes: UnsafeMutableRawBufferPointer) -> UInt64 {
        let skip = Chunk.headerSize + Int(header.path_count) * PathEntry.size
        guard skip <= bytes.count else { return header.begin_ticks }
        var cursor = RecordCursor(
            UnsafeRawBufferPointer(rebasing: bytes[skip...]), ticks: header.begin_ticks,
            functionBase: header.function_base)
        while true {
            let record = cursor.next()
            if record == .end || record == .malformed { return cursor.ticks }
        }
    }

    private static func thread(of header: fathom_chunk) -> UInt64 {
        UInt64(header.process) << 32 | UInt64(header.thread)
    }

    /// Lets a thread begin with this chunk.
    private static func cut(_ header: inout fathom_chunk, _ bytes: UnsafeMutableRawBufferPointer) {
        header.flags = UInt8(UInt32(header.flags) & ~(FATHOM_FLAG_GAP | FATHOM_FLAG_PATH) | FATHOM_FLAG_CUT)
        header.inherited = header.depth
        (header.lost_calls, header.orphan_exits, header.switch_ticks, header.path_calls) = (0, 0, 0, 0)
        for index in 0..<Int(header.path_count) {
            let offset = MemoryLayout<fathom_chunk>.size + index * MemoryLayout<fathom_path_entry>.stride
            var entry = bytes.loadUnaligned(fromByteOffset: offset, as: fathom_path_entry.self)
            entry.enter_ticks = header.begin_ticks
            bytes.storeBytes(of: entry, toByteOffset: offset, as: fathom_path_entry.self)
        }
    }
}
