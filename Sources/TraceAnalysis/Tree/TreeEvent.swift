/// A moment between the lines of a call tree: a mark, or a counter's value.
public struct TreeEvent {
    public var name: String
    /// The counter's value; nil for a mark.
    public var value: Double?
    /// When it happened, in ns since the session's start, in the thread's own time.
    public var moment: UInt64
    /// The depth of the calls it stands between.
    public var depth: UInt32
}
