internal import TraceAnalysis
internal import TraceFile

/// One stack of one thread: what a timeline shows as a row of nested bars.
struct Track {
    let process: TracedProcess
    let thread: TracedThread
    /// 0 is the thread's own stack; others are coroutines and alternate stacks.
    let lane: UInt32

    /// Whether these are the calls of a Swift task, which no thread of the system stands for.
    var isTask: Bool { thread.task != nil }

    /// `worker`, or `thread 12` for one without a name; `worker lane 1`.
    var name: String {
        let name = thread.name.isEmpty ? "thread \(thread.tid)" : thread.name
        return lane == 0 ? name : "\(name) lane \(lane)"
    }
}
