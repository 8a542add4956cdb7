extension ByteWriter {
    /// A writer whose lines go to `other` in at most `width` columns: what is longer ends in `…`. Styles take no columns, and
    /// those behind the cut are kept, so that they end.
    ///
    /// It passes on whole lines only, and flushes `other` whenever it is flushed itself.
    public static func cuttingLines(to width: Int, _ other: ByteWriter) -> ByteWriter {
        var line: [UInt8] = []
        return ByteWriter { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(of: 0x0a) {
                line.append(contentsOf: rest[..<end])
                write(line, cutTo: width, to: other)
                other.write(byte: 0x0a)
                line.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            line.append(contentsOf: rest)
            other.flush()
            return !other.isClosed
        }
    }

    private static func write(_ line: [UInt8], cutTo width: Int, to other: ByteWriter) {
        // No character takes more columns than it has bytes.
        if line.count <= width { return other.write(line) }
        var columns = 0
        var isStyle = false
        // The part that has room with `…` behind it, what follows, and the styles of that.
        var (kept, rest, styles) = (String.UnicodeScalarView(), String.UnicodeScalarView(), String.UnicodeScalarView())
        for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
            if scalar == "\u{1b}" { isStyle = true }
            if !isStyle { columns += scalar.columns }
            if columns < width { kept.append(scalar) } else { rest.append(scalar) }
            if isStyle, columns >= width { styles.append(scalar) }
            if scalar == "m" { isStyle = false }
        }
        other.write(String(kept))
        if columns > width { other.write("…" as StaticString) }
        other.write(String(columns > width ? styles : rest))
    }
}
