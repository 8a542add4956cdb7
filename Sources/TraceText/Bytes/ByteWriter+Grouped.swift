extension ByteWriter {
    /// Writes `number` with commas between thousands, right-aligned in `width`, behind one space at least where there is a width.
    public func write(grouped number: UInt64, width: Int = 0) {
        if number < 1000, width == 0 || width > 3 { return write(decimal: number, width: width) }
        let text = CountText.grouped(number)
        write(spaces: max(width - text.utf8.count, width > 0 ? 1 : 0))
        write(text)
    }
}
