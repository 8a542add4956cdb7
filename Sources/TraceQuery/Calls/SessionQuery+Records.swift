public import TraceAnalysis
public import TraceFile

extension SessionQuery {
    /// Has all records of the selected threads read, thread by thread.
    ///
    /// - Parameter read: reads one thread, and tells how far it is; whether more are to be read is its result.
    public func records(_ read: (TracedThread, ReadingProgress) -> Bool) throws(QueryError) -> Answer<Void> {
        let threads = try selected().flatMap(\.threads)
        let progress = ReadingProgress(of: threads, report: listener.progress)
        _ = threads.allSatisfy { read($0, progress) }
        progress.end()
        return Answer(
            (), warnings: warnings(of: threads), emptiness: session.hasCalls ? nil : emptiness, sessions: [session])
    }
}
