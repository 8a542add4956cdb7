internal import TraceAnalysis
internal import TraceText

extension ByteWriter {
    /// Writes how many calls a sum is of, and their time where it is known: `3 calls, 1.25 us`.
    func write(_ sum: CallSum) {
        write(grouped: sum.calls)
        write(sum.calls == 1 ? " call" : " calls" as StaticString)
        guard sum.time > 0 else { return }
        write(", " as StaticString)
        write(time: sum.time)
    }
}
