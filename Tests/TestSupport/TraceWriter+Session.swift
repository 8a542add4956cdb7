extension TraceWriter {
    /// Writes a session of one thread with one chunk, which begins at 0 ns.
    ///
    /// - Parameters:
    ///   - directory: where the session is to be.
    ///   - tellsWaits: whether the description says that waits were recorded.
    ///   - record: writes the chunk's records.
    public static func session(
        _ directory: String, tellsWaits: Bool = false, _ record: (inout RecordWriter) throws -> Void
    ) throws {
        var records = RecordWriter(time: 0)
        try record(&records)
        let writer = TraceWriter()
        writer.tellsWaits = tellsWaits
        writer.add(ChunkOptions(), records: records.bytes)
        try writer.write(to: directory)
    }
}
