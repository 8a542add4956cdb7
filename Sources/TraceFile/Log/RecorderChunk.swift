package import CTraceFormat

extension fathom_chunk {
    /// The header of a chunk of metadata that holds one item and that the recorder itself writes.
    ///
    /// - Parameters:
    ///   - size: of the item, in bytes.
    ///   - process: its index; FATHOM_NO_PROCESS where the item is about none of the recorded ones.
    ///   - ticks: when what the item tells of was.
    package init(
        ofItem size: UInt32, process: UInt32, pid: UInt32 = 0, sequence: UInt64 = 0, at ticks: UInt64 = 0
    ) {
        self.init()
        magic = FATHOM_CHUNK_MAGIC
        kind = UInt8(FATHOM_CHUNK_METADATA)
        self.process = process
        (self.pid, tid) = (pid, pid)
        self.sequence = sequence
        (begin_ticks, end_ticks) = (ticks, ticks)
        (used, capacity) = (size, size)
    }
}
