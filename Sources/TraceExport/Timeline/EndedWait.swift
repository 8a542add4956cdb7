internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery

/// A wait, and who ended it, in the own times of the two threads.
struct EndedWait {
    var kind: String
    var waiter: TracedThread
    /// When the wait was over.
    var end: UInt64
    var waker: TracedThread
    /// When the other thread was about to end it.
    var moment: UInt64
}

extension ExportSource {
    /// The waits that some thread ended, in the order of their beginnings.
    ///
    /// - Complexity: O(records).
    var endedWaits: [EndedWait] {
        let threads = selection.flatMap(\.threads).filter { $0.task == nil && !$0.isJoined }
        let waits = query.waits(of: threads).waits
        return waits.waits.compactMap { wait in
            guard let wake = wait.wake.map({ waits.wakes[$0] }), window?.contains(wake.moment) ?? true,
                window?.contains(wait.end) ?? true
            else { return nil }
            let (waiter, waker) = (threads[wait.thread], threads[wake.thread])
            return EndedWait(
                kind: wait.kind.name, waiter: waiter, end: waiter.own(wait.end), waker: waker,
                moment: waker.own(wake.moment))
        }
    }
}
