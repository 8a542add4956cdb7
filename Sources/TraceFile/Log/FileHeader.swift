internal import CTraceFormat

/// What the header of `trace` or of `buffers` says about the session's clock.
struct FileHeader {
    var clock: UInt8
    var startTicks: UInt64
    var startNanoseconds: UInt64
    var ticksPerSecond: UInt64
    var startRealtimeNanoseconds: UInt64
    /// Nil while the recorder has not seen the end, and when what it said then is damaged.
    var losses: Losses?
    /// Size of the log in bytes, when the recorder saw the end.
    var logSize: UInt64?
}

extension FileHeader {
    /// What chunks tell of the clock when no header does: each has its moments in ticks and in ns. Nil without chunks.
    init?(_ chunks: [Chunk]) {
        guard let first = chunks.min(by: { $0.beginTicks < $1.beginTicks }) else { return nil }
        let isCounter = chunks.contains { $0.beginTicks != $0.beginNanoseconds }
        self.init(
            clock: UInt8(isCounter ? FATHOM_CLOCK_COUNTER : FATHOM_CLOCK_MONOTONIC), startTicks: first.beginTicks,
            startNanoseconds: first.beginNanoseconds, ticksPerSecond: 0, startRealtimeNanoseconds: 0)
    }
}
