extension ByteWriter {
    /// Writes `text`, and escapes what means something in HTML and SVG.
    public func write(markup text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): write("&amp;" as StaticString)
            case UInt8(ascii: "<"): write("&lt;" as StaticString)
            case UInt8(ascii: ">"): write("&gt;" as StaticString)
            case UInt8(ascii: "\""): write("&quot;" as StaticString)
            case 0..<0x20: write(byte: UInt8(ascii: " "))
            default: write(byte: byte)
            }
        }
    }
}
