public import TraceFile

/// A moment at which a thread was about to end a wait of others.
public struct Wake: Sendable {
    /// Of what it ends waits; nil where the kernel told of it, which knows whom it ended, and not for what that waited.
    public var kind: WaitKind?
    /// What others wait for; of a wake that the kernel told of, the id of the thread that was woken.
    public var object: UInt64
    /// Number among ``WaitPaths``; 0 for the end of a thread.
    public var path: Int32
    public var thread: Int
    public var moment: UInt64
    /// Whether it is the end of a thread or of a process, rather than something that a thread did when none of its calls was open.
    public var isEnd: Bool { path == 0 && (kind == .thread || kind == .child) }
    /// For how long the lock was held that was given back, in ns; nil when that is not known, or no lock was.
    public var held: UInt64?
}
