extension ByteWriter {
    /// What `write` writes, in memory.
    public static func bytes(_ write: (ByteWriter) throws -> Void) rethrows -> [UInt8] {
        var bytes: [UInt8] = []
        let writer = ByteWriter { piece in
            bytes.append(contentsOf: piece)
            return true
        }
        try write(writer)
        writer.flush()
        return bytes
    }
}
