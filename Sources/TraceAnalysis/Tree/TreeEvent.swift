/// A moment between the lines of a call tree: a mark, or a counter's value.
public struct TreeEvent {
    public var name: String
    /// Of a counter; nil: a mark.
    public var value: Double?
    /// ns since the session's start, in the thread's own time.
    public var moment: UInt64
    /// Of the calls it stands between.
    public var depth: UInt32
}
