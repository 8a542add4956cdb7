internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery

/// The open calls of a process that is being recorded: exact, and no thread is stopped.
final class TracedSource: StackSource {
    private let pid: UInt32
    private let session: LiveSession
    let missed = 0

    init(_ pid: Int32, _ session: LiveSession) {
        self.pid = UInt32(bitPattern: pid)
        self.session = session
    }

    func look() -> [(tid: UInt32, stack: [UInt64])]? {
        guard let facts = TaskFacts(Int32(bitPattern: pid)), !facts.hasEnded else { return nil }
        return session.threads.look().filter { $0.pid == pid }.map { ($0.tid, $0.wholePath.map(\.function)) }
    }

    var modules: [Module] {
        session.refresh()
        return session.processes.last { $0.pid == pid }?.modules ?? []
    }
}
