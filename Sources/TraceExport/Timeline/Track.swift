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

    /// `worker 4242`, `thread 12`, `task 3`; `worker 4242 lane 1`: a name that no other track of the process has.
    var ownName: String {
        let name =
            thread.name.isEmpty || isTask
            ? Track(process: process, thread: thread, lane: 0).name : "\(thread.name) \(thread.tid)"
        return lane == 0 ? name : "\(name) lane \(lane)"
    }

    /// `worker`, or `thread 12` for one without a name; `worker lane 1`.
    var name: String {
        let name = thread.name.isEmpty ? "thread \(thread.tid)" : thread.name
        return lane == 0 ? name : "\(name) lane \(lane)"
    }
}
