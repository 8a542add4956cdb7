/// Which calls of a trace are shown.
public struct TreeFilter {
    /// Calls deeper than this are hidden; roots are depth 0, depths are as shown.
    public var maxDepth: UInt32 = .max
    /// Calls that took less are hidden, in ns.
    public var minCost: UInt64 = 0
    /// Only these and what they call; the matching calls become roots.
    public var only: [Pattern] = []
    /// Not these nor what they call.
    public var without: [Pattern] = []
    /// Only call paths that lead to these.
    public var leadingTo: [Pattern] = []
    /// Not these, but what they call; their self time counts as their caller's.
    public var hidden: [Pattern] = []
    /// Hides what only the compiler knows of in the same way.
    public var hidesCompilerMade = false
    /// Only calls that overlap this stretch, in ns since the session's start.
    public var from: UInt64 = 0
    public var to: UInt64 = .max

    public init() {}

    /// Whether patterns say what is shown.
    public var limitsNames: Bool { !(only.isEmpty && without.isEmpty && leadingTo.isEmpty && hidden.isEmpty) }

    var usesNames: Bool { hidesCompilerMade || limitsNames }
}
