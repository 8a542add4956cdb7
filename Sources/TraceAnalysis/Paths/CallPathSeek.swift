internal import TraceFile

/// A stretch of time of a thread, which is read without most of what lies around it.
struct CallPathSeek {
    let spans: SpanningCalls
    /// The chunks in which something may have happened in the stretch.
    let chunks: Range<Int>
    /// The sums until then of the calls that are open where the first of these chunks begins, outermost first.
    let before: [SpanningCalls.Sums]

    /// - Parameter part: the largest part of the chunks that the stretch may have. To read more of them, several
    ///   workers take less time.
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
