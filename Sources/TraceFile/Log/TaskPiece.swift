public import CTraceFormat

/// Which Swift task a call is a piece of, and the asynchronous calls that led there.
@frozen
public struct TaskPiece: BitwiseCopyable, Sendable {
    /// Id of the task in its process.
    public let task: UInt32
    /// The number of contexts from the one that was passed to the task's first. ``depthLimit`` means that many or more,
    /// 0 that it is not known.
    public let depth: UInt8
    /// Whether the piece is what the task was last suspended to go on with.
    public let isResumed: Bool
    /// Stands for what the task was last suspended to go on with. When it differs from the piece before, the task was
    /// suspended between them.
    public let resume: UInt16
    /// The ``depth`` of pieces with this many contexts or more.
    public static let depthLimit = UInt8(FATHOM_TASK_DEPTH_LIMIT)

    /// The context that was passed, its caller's, and so on; 0 after the task's first one.
    public let contexts: (UInt64, UInt64, UInt64, UInt64)

    @usableFromInline
    init(_ raw: fathom_task = fathom_task()) {
        task = raw.task
        depth = raw.depth
        isResumed = UInt32(raw.flags) & FATHOM_TASK_RESUMED != 0
        resume = raw.resume
        contexts = raw.contexts
    }

    /// The contexts that are known, innermost first.
    public var chain: [UInt64] {
        let all = [contexts.0, contexts.1, contexts.2, contexts.3]
        return Array(all.prefix(Int(depth)))
    }
}
