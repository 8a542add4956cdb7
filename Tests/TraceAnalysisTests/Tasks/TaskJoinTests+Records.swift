import TestSupport

extension TaskJoinTests {
    /// What a piece is of its function.
    enum Part: UInt64 { case start = 0, resumption = 0x100, continuation = 0x200 }

    static func address(_ function: Character, _ part: Part = .start) -> UInt64 {
        UInt64(function.asciiValue!) + part.rawValue
    }

    /// A thread's records.
    struct Records {
        var writer = RecordWriter(time: 0)
        /// What is known of the chunk that is being written; `chunks` has those before it.
        var options = TraceWriter.ChunkOptions()
        var path: [TraceWriter.PathCall] = []
        var chunks: [(options: TraceWriter.ChunkOptions, path: [TraceWriter.PathCall], records: [UInt8])] = []

        /// Recording is stopped and started again, with calls of `open` on the stack.
        mutating func pause(_ time: ClosedRange<UInt64>, open functions: String) {
            options.isStopped = true
            end(at: time.lowerBound)
            writer = RecordWriter(time: time.upperBound)
            options = TraceWriter.ChunkOptions()
            options.begin = time.upperBound
            options.restatesPath = true
            path = functions.map { TraceWriter.PathCall(function: address($0), enter: time.upperBound) }
            options.inherited = UInt32(path.count)
            options.sequence = UInt64(chunks.count)
        }

        mutating func end(at time: UInt64 = 0) {
            options.end = time
            options.hasTasks = true
            chunks.append((options, path, writer.bytes))
        }

        mutating func enter(_ function: Character, at time: UInt64) { writer.enter(address(function), at: time) }
        mutating func exit(at time: UInt64) { writer.exit(at: time) }

        /// A piece of task 7 without callees.
        mutating func piece(
            _ function: Character, _ part: Part, _ time: ClosedRange<UInt64>, task: UInt32 = 7,
            isResumed: Bool = false, resume: UInt16 = 0, _ contexts: [UInt64]
        ) {
            begin(function, part, at: time.lowerBound, task: task, isResumed: isResumed, resume: resume, contexts)
            writer.exit(at: time.upperBound)
        }

        mutating func begin(
            _ function: Character, _ part: Part, at time: UInt64, task: UInt32 = 7, isResumed: Bool = false,
            resume: UInt16 = 0, _ contexts: [UInt64]
        ) {
            writer.task(task, isResumed: isResumed, resume: resume, contexts: contexts)
            writer.enter(address(function, part), at: time)
        }
    }
}
