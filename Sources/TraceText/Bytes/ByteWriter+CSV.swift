extension ByteWriter {
    /// Writes a field of comma-separated values, in quotes where it needs them (RFC 4180).
    public func write(csv field: String) {
        guard field.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else {
            write(field)
            return
        }
        write(byte: UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { write(byte: byte) }
            write(byte: byte)
        }
        write(byte: UInt8(ascii: "\""))
    }
}
