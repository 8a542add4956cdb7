/// Other limits than those of a ``TreeFilter``, which hold for calls of some functions and for what these call.
///
/// Such calls are shown whatever the least cost is, with the calls that lead to them.
public struct CallTrigger {
    public var function: Pattern
    /// Levels that are shown below such a call, whatever the greatest depth is; 0...``deepest``.
    public var levels: UInt32?
    /// In ns: below such a call, shorter calls are hidden, whatever the least cost is.
    public var minCost: UInt64?

    public static let deepest: UInt32 = (1 << 14) - 2
    /// The number of triggers that may have a least cost.
    public static let most = 15

    public init(_ function: Pattern, levels: UInt32? = nil, minCost: UInt64? = nil) {
        self.function = function
        self.levels = levels
        self.minCost = minCost
    }
}
