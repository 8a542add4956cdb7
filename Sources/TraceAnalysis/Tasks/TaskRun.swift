internal import TraceFile

/// What ran of a task without a break: a call on a thread's stack, and what it called. Times are ticks.
struct TaskRun {
    let piece: TaskPiece
    /// Index of the thread, and how many runs began there before.
    let thread: Int
    let order: Int
    let function: UInt64
    let callSite: UInt64
    let start: UInt64
    var end: UInt64
    /// It had not ended when the recording did.
    var isOpen = false
    var isUnwound = false
    /// The records of what it called, among those of its level.
    let first: JoinedChunks.Position
    var last: JoinedChunks.Position
    let level: Int
}
