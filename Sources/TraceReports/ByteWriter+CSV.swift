internal import TraceText

extension ByteWriter {
    /// Writes a field of comma-separated values, in quotes where it needs them (RFC 4180).
    func write(csv field: String) {
        guard field.utf8.contains(where: { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }) else {
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
