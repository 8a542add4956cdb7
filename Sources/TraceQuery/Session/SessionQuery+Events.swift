public import TraceAnalysis
public import TraceFile

extension SessionQuery {
    /// The marks and counters of threads that were selected before, of each thread by name.
    ///
    /// - Complexity: O(records) of threads whose programs have named marks or counters; otherwise O(threads).
    public func events(of threads: [TracedThread]) -> [[(name: String, series: EventSeries)]] {
        EventSeries.all(of: threads, in: session, resolver: resolver, listener.progress)
    }
}
