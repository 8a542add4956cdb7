internal import CTraceFormat

/// Makes a recording of its own out of the chunks that a ring holds: what was written over is as if it had never been
/// recorded.
///
/// Each thread's chunks are numbered from 0 again. The calls that are open when its first one begins are inherited, as
/// after a start in the midst of them: their time counts from there, because what they called before is not known.
enum RingChunks {
    /// Changes chunks in place.
    ///
    /// - Parameters:
    ///   - copies: the bytes of each chunk, header and payload, in memory of our own.
    ///   - ticks: chunks of records that ended so long before the newest moment are left out.
    /// - Returns: For each chunk, whether it stays.
    /// - Complexity: O(chunks).
    static func settle(_ copies: [UnsafeMutableRawBufferPointer], keeping ticks: UInt64) -> [Bool] {
        let headers = copies.map { $0.loadUnaligned(as: fathom_chunk.self) }
        let newest = headers.lazy.map { max($0.begin_ticks, $0.end_ticks) }.max() ?? 0
        let isKept = headers.map { header in
            UInt32(header.kind) != FATHOM_CHUNK_RECORDS || header.end_ticks == 0 || newest - header.end_ticks <= ticks
        }
        var first: [UInt64: UInt64] = [:]
        for (header, isKept) in zip(headers, isKept) where isKept && UInt32(header.kind) == FATHOM_CHUNK_RECORDS {
            first[thread(of: header)] = min(first[thread(of: header)] ?? .max, header.sequence)
        }
        for (index, var header) in headers.enumerated() where isKept[index] {
            guard let first = first[thread(of: header)], first > 0 else { continue }
            if header.sequence == first { cut(&header, copies[index]) }
            header.sequence -= first
            copies[index].storeBytes(of: header, as: fathom_chunk.self)
        }
        return isKept
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
