internal import TraceFile

/// What ran of a task without a break: a call on a thread's stack, and what that called. Times are ticks.
struct TaskRun {
    let piece: TaskPiece
    /// Index of the thread, and how many runs had begun there before.
    let thread: Int
    let order: Int
    let function: UInt64
    let callSite: UInt64
    let start: UInt64
    var end: UInt64
    /// Whether it was still running when the recording ended.
    var isOpen = false
    var isUnwound = false
    /// The first of the records of what it called, among those of its level.
    let first: JoinedChunks.Position
    var last: JoinedChunks.Position
    let level: Int
}
