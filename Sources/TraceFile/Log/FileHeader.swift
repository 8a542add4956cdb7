internal import CTraceFormat

/// What the header of `trace` or of `buffers` says about the session's clock.
struct FileHeader {
    var clock: UInt8
    var startTicks: UInt64
    var startNanoseconds: UInt64
    var ticksPerSecond: UInt64
    var startRealtimeNanoseconds: UInt64
    /// The sum of what never changes in the log's header; nil where it has none.
    var sum: UInt64?
    /// The calls that are missing; nil while the recorder has not seen the end, or when what it wrote then is damaged.
    var losses: MissingCalls?
    /// The size of the log in bytes, if the recorder saw the end.
    var logSize: UInt64?
}

extension FileHeader {
    /// Makes up for a missing header with what chunks tell about the clock, because each has its moments in ticks and
    /// in ns. Nil without chunks.
    init?(_ chunks: [Chunk]) {
        guard let first = chunks.min(by: { $0.beginTicks < $1.beginTicks }) else { return nil }
        let isCounter = chunks.contains { $0.beginTicks != $0.beginNanoseconds }
        self.init(
            clock: UInt8(isCounter ? FATHOM_CLOCK_COUNTER : FATHOM_CLOCK_MONOTONIC), startTicks: first.beginTicks,
            startNanoseconds: first.beginNanoseconds, ticksPerSecond: 0, startRealtimeNanoseconds: 0)
    }
}
