internal import TraceFile

/// A stretch of time of a thread that is read without most of what lies around it.
struct CallPathSeek {
    let spans: SpanningCalls
    /// The chunks in which something may have happened in it.
    let chunks: Range<Int>
    /// What the calls that are open where the first of them begins had before, outermost first.
    let before: [SpanningCalls.Sums]

    /// - Parameter part: what part of the chunks the stretch may have at most: to read more of them, several workers take less
    ///   time.
    /// - Returns: nil when all of the thread is to be read.
    init?(_ thread: TracedThread, clock: Clock, from: UInt64, to: UInt64, part: Double) {
        guard from > 0 || to < .max, let spans = SpanningCalls(thread, clock: clock) else { return nil }
        chunks = spans.chunks(from: from, to: to)
        guard Double(chunks.count) <= part * Double(thread.chunks.count),
            let before = spans.sums(before: chunks.lowerBound)
        else { return nil }
        self.spans = spans
        self.before = before
    }
}
