public import TraceFile

/// Tells how far the reading of threads, one after another, is.
///
/// It is for one thread at a time to use.
public final class ReadingProgress {
    private let report: (Double) -> Void
    private var total: Int
    private var read = 0
    private var told = 0.0
    /// The thread being read, and the first of its chunks that has not been counted.
    private var thread: TracedThread?
    private var nextChunk = 0

    /// - Parameters:
    ///   - threads: what is going to be read.
    ///   - passes: how often.
    ///   - report: told what part is read, 0...1, and 1 at the end.
    public init(of threads: [TracedThread], passes: Int = 1, report: @escaping (Double) -> Void) {
        total = max(1, threads.reduce(0) { $0 + $1.bytes } * passes)
        self.report = report
    }

    /// Begins a reading of `thread`, from its first chunk on.
    ///
    /// - Parameter again: whether this pass was not among those that were expected.
    public func begin(_ thread: TracedThread, again: Bool = false) {
        self.thread = thread
        nextChunk = 0
        if again { total += thread.bytes }
    }

    /// Chunk `index` of the thread was read. One that is read once more in the same reading is not counted.
    public func read(chunk index: Int) {
        guard let thread, index >= nextChunk else { return }
        // Chunks that were passed over are done, too.
        for chunk in nextChunk...index { read += thread.chunks[chunk].size }
        nextChunk = index + 1
        told = max(told, min(1, Double(read) / Double(total)))
        report(told)
    }

    /// All is read.
    public func end() { report(1) }
}
