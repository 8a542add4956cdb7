public import TraceFile

/// A moment that the program told of: a mark, or a counter's value.
@frozen
public struct ThreadEvent: BitwiseCopyable {
    /// Id among the names of the process.
    public var name: UInt32
    /// The counter's value; nil for a mark.
    public var value: Double?
    /// When it happened, by the session's clock.
    public var ticks: UInt64
    /// ns since the session's start, in the thread's own time.
    public var moment: UInt64

    /// What was told, if that is shown by a name.
    @inlinable
    public init?(_ told: Told, ticks: UInt64, moment: UInt64) {
        guard let named = told.named else { return nil }
        self.init(name: named.name, value: named.value, ticks: ticks, moment: moment)
    }

    @inlinable
    public init(name: UInt32, value: Double?, ticks: UInt64, moment: UInt64) {
        self.name = name
        self.value = value
        self.ticks = ticks
        self.moment = moment
    }
}
