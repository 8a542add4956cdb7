extension ByteWriter {
    /// A writer whose lines go to `other` in the characters that a terminal can show.
    ///
    /// It passes on whole lines only, and flushes `other` whenever it is flushed itself.
    public static func showing(_ characters: Characters, on other: ByteWriter) -> ByteWriter {
        var line: [UInt8] = []
        return ByteWriter { bytes in
            line.append(contentsOf: bytes)
            if let end = line.lastIndex(of: 0x0a) {
                other.write(characters.shown(String(decoding: line[...end], as: UTF8.self)))
                line.removeSubrange(...end)
            }
            other.flush()
            return !other.isClosed
        }
    }
}
