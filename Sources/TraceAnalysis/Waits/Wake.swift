public import TraceFile

/// A moment at which a thread was about to end a wait of others.
public struct Wake: Sendable {
    public var kind: WaitKind
    public var object: UInt64
    /// Number among ``WaitPaths``; 0 for the end of a thread.
    public var path: Int32
    public var thread: Int
    public var moment: UInt64
    /// For how long the lock was held that was given back, in ns; nil when that is not known, or no lock was.
    public var held: UInt64?
}
