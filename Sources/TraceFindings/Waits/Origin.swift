/// What made a thread begin.
public struct Origin: Sendable {
    /// Index of the thread that made it.
    public var thread: Int
    public var moment: UInt64
    /// Where that was; 0 when that is not known.
    public var path: Int32
}
