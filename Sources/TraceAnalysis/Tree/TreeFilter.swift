/// Which calls of a trace are shown.
public struct TreeFilter {
    /// Calls deeper than this are hidden. Roots are depth 0, and depths are those shown.
    public var maxDepth: UInt32 = .max
    /// In ns: calls that took less are hidden.
    public var minCost: UInt64 = 0
    /// Which part of a call's time `minCost` is compared with, and calls are sorted by.
    public var measure = TimeKind.total
    /// Only these functions and what they call are shown. The matching calls become roots.
    public var only: [Pattern] = []
    /// These functions and what they call are left out.
    public var without: [Pattern] = []
    /// Only call paths that lead to these functions are shown.
    public var leadingTo: [Pattern] = []
    /// These functions are left out, but not what they call. Their self time counts as their caller's.
    public var hidden: [Pattern] = []
    /// Only calls with these arguments, and what they call, are shown in a ``CallTree``. It is not for call paths.
    public var withArguments: [ArgumentFilter] = []
    /// Only these calls, with what leads to them and what lies a little below, are shown in a ``CallTree``. It is not for call
    /// paths.
    public var watch: WatchList?
    /// Functions that are defined elsewhere, or there, are hidden in the same way.
    public var places: [PlacePattern] = []
    /// In bytes: functions with less code are hidden in the same way; those whose size is not known are not.
    public var minSize: UInt64 = 0
    /// Other limits for calls of some functions, and below them.
    public var triggers: [CallTrigger] = []
    /// Functions that only the compiler knows of are hidden in the same way.
    public var hidesCompilerMade = false
    /// Only calls that overlap this stretch are shown, in ns since the session's start.
    public var from: UInt64 = 0
    public var to: UInt64 = .max
    /// Whether of the time of these calls only what lies in that stretch counts. It is for call paths.
    public var clips = false

    public init() {}

    /// Whether patterns say what is shown.
    public var limitsNames: Bool {
        !(only.isEmpty && without.isEmpty && leadingTo.isEmpty && hidden.isEmpty && watch == nil
            && withArguments.isEmpty && places.isEmpty && minSize == 0 && triggers.isEmpty)
    }

    var usesNames: Bool { hidesCompilerMade || limitsNames }
}
