internal import TraceText

extension ByteWriter {
    /// Writes a bar of `width` columns, of which so many eighths of a column are filled.
    func write(bar eighths: Int, width: Int) {
        for _ in 0..<eighths / 8 { write("█" as StaticString) }
        let rest = eighths % 8
        if rest > 0 { write(["▏", "▎", "▍", "▌", "▋", "▊", "▉"][rest - 1] as StaticString) }
        write(spaces: width - eighths / 8 - (rest > 0 ? 1 : 0))
    }
}
