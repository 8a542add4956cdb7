public import TraceFile

/// Says which thread, or which of Swift's tasks, a row is of.
public struct ThreadLabel {
    public let process: TracedProcess
    /// The kernel's thread id. A task has ``TracedThread/firstTask`` plus its own id.
    public let tid: UInt32
    /// The task's id; nil for a thread.
    public let task: UInt32?
    public let name: String

    public init(_ thread: TracedThread) {
        process = thread.process
        tid = thread.tid
        task = thread.task
        name = thread.name
    }

    init(process: TracedProcess, tid: UInt32, task: UInt32?, name: String) {
        self.process = process
        self.tid = tid
        self.task = task
        self.name = name
    }

    /// `main 4242`, `worker 4243` or `task 12`.
    public var text: String {
        if let task { return "task \(task)" }
        return "\(tid == process.pid ? "main" : name.isEmpty ? "thread" : name) \(tid)"
    }
}
