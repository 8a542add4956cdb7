/// A small seeded generator (G. Marsaglia, Xorshift RNGs, 2003), so that a failing case can be run again.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    public mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// A random well-nested trace of one thread, and what happened in it.
public struct RandomTrace {
    /// A call as it truly was, in the thread's own time: without the chunk switches before it.
    public struct Call: Equatable, Sendable {
        public var function: UInt64
        public var depth: Int
        public var start: UInt64
        public var end: UInt64

        public init(function: UInt64, depth: Int, start: UInt64, end: UInt64) {
            self.function = function
            self.depth = depth
            self.start = start
            self.end = end
        }
    }

    /// In order of their enters.
    public private(set) var calls: [Call] = []
    public let writer = TraceWriter()

    /// Makes about `count` calls, a new chunk every `chunkCalls` or so.
    public init(seed: UInt64, count: Int, chunkCalls: Int = 50, maxDepth: Int = 12) {
        var random = SeededGenerator(seed: seed)
        var time: UInt64 = 0
        /// What switches took until now, and until each call.
        var taken: UInt64 = 0
        var takenBefore: [UInt64] = []
        var open: [Int] = []
        var sequence: UInt64 = 0
        while calls.count < count || !open.isEmpty {
            var options = TraceWriter.ChunkOptions()
            // No process has this number, so none that lives is taken for the recorded one.
            options.pid = UInt32(Int32.max)
            options.sequence = sequence
            if sequence > 0 {
                options.switchTicks = .random(in: 0...3000, using: &random)
                taken += options.switchTicks
            }
            options.begin = time + taken
            sequence += 1
            let path = open.map {
                TraceWriter.PathCall(function: calls[$0].function, enter: calls[$0].start + takenBefore[$0])
            }
            var records = RecordWriter(time: time + taken)
            while records.calls < chunkCalls, calls.count < count || !open.isEmpty {
                time += UInt64.random(in: 0...3, using: &random) == 0 ? .random(in: 0...200_000, using: &random) : 7
                let enters =
                    calls.count < count && (open.isEmpty || (open.count < maxDepth && Bool.random(using: &random)))
                if enters {
                    let high: UInt64 = UInt64.random(in: 0...9, using: &random) == 0 ? 0x7f00 : 0x5555
                    let function = high << 32 | 0x1000 + 64 * UInt64.random(in: 0..<6, using: &random)
                    records.enter(function, at: time + taken)
                    takenBefore.append(taken)
                    open.append(calls.count)
                    calls.append(Call(function: function, depth: open.count - 1, start: time, end: 0))
                } else {
                    records.exit(at: time + taken)
                    calls[open.removeLast()].end = time
                }
            }
            options.end = time + taken
            options.calls = records.calls
            writer.add(options, path: path, records: records.bytes)
        }
    }
}
