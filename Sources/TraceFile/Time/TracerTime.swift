/// The time that the runtime took of a thread between the end of one chunk and the beginning of the next. It is
/// processor time, because waiting for a processor meanwhile belongs to the program, as it does anywhere else.
///
/// It is known from the headers alone, so that replaying a part of a thread takes out the same time as replaying all of
/// it.
struct TracerTime {
    /// Switches in the order of time: when each was over, and the sum up to then, in ticks.
    private var switches: [(end: UInt64, sum: UInt64)] = []

    /// No time is taken out.
    static let none = TracerTime(ChunkList([], 0..<0))

    /// - Parameter chunks: all chunks of a thread, sorted by sequence.
    init(_ chunks: ChunkList) {
        for (previous, chunk) in zip(chunks, chunks.dropFirst()) { add(previous, chunk) }
    }

    /// Adds the switch from one chunk to the next one of its thread.
    ///
    /// - Parameter limit: the number of switches that are kept. Beyond it, every second one of the older half is left out, so
    ///   that the sum up to a moment long ago may lack a little.
    mutating func add(_ previous: Chunk, _ chunk: Chunk, keeping limit: Int = .max) {
        guard TracerTime.isExact(previous, chunk) else { return }
        if switches.count >= limit {
            let half = limit / 2
            switches = switches[..<half].enumerated().filter { $0.offset % 2 == 1 }.map(\.element) + switches[half...]
        }
        switches.append((chunk.beginTicks, total &+ chunk.switchTicks))
    }

    var total: UInt64 { switches.last?.sum ?? 0 }

    /// The sum of the switches that were over at `ticks`.
    func ticks(upTo ticks: UInt64) -> UInt64 {
        let next = switches.partitioningIndex { $0.end > ticks }
        return next == 0 ? 0 : switches[next - 1].sum
    }

    /// Whether the two headers tell of the same stretch of time, with no call lost in it.
    private static func isExact(_ previous: Chunk, _ chunk: Chunk) -> Bool {
        chunk.switchTicks > 0 && chunk.sequence == previous.sequence &+ 1 && previous.endTicks != 0
            && previous.endTicks <= chunk.beginTicks && chunk.switchTicks <= chunk.beginTicks - previous.endTicks
            && chunk.lostCalls == 0 && !chunk.hasGap
    }
}
