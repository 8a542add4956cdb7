package import CTraceFormat

extension fathom_chunk {
    /// The enter records of a chunk that its thread never finished, which has no number of calls yet.
    ///
    /// - Parameter payload: `used` bytes, the path first.
    /// - Complexity: O(`used`).
    package func countEnters(_ payload: UnsafeRawPointer) -> UInt64 {
        let end = Int(used)
        var offset = Int(path_count) * MemoryLayout<fathom_path_entry>.size
        var count: UInt64 = 0
        while offset + 2 <= end {
            let unit = payload.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            offset += Int(fathom_record_size(payload + offset, end - offset))
            if unit & 1 == 1 && offset <= end { count += 1 }
        }
        return count
    }
}
