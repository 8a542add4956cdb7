/// A call that has ended, and that may be a reason to save: it took long, or it had arguments that are asked for.
public struct LongCall: Sendable {
    /// Index of the process in the session.
    public var process: UInt32
    /// The address of its function.
    public var function: UInt64
    /// In ns.
    public var duration: UInt64
    /// When it ended, in ticks of the session's clock.
    public var endTicks: UInt64
    /// The conditions on arguments that it fulfils, a bit for each; 0: it took long.
    public var conditions: UInt32 = 0
}
