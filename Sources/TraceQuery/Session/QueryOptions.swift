public import TraceAnalysis

/// What a query is to find out about a session, and how.
public struct QueryOptions {
    /// Whether the cost of tracing is subtracted from times.
    public enum Times: Sendable {
        case raw
        /// The cost is subtracted if it was measured and the query is about the whole recording.
        case correctedIfKnown
        /// The cost is subtracted; where it cannot be, the query fails.
        case corrected
    }

    public var selection = ThreadSelection.all
    /// Which calls are hidden. The query sets ``TreeFilter/hidesCompilerMade`` itself.
    public var filter = TreeFilter()
    /// Files and directories that may hold the symbols of stripped programs.
    public var symbolFiles: [String] = []
    /// Whether functions have their full names, so that none of them count as one.
    public var rawNames = false
    /// Whether functions that the compiler made for itself are shown, even without ``rawNames``.
    public var showsCompilerMade = false
    /// Whether the pieces of Swift's tasks are joined. They never are in threads that ``selection`` names.
    public var joinsTasks = true
    /// Whether functions have the file and line of their definition, which take longer to find.
    public var lines = true
    public var times = Times.raw
    /// Of each function the first call is enough.
    public var takesFirstCalls = false
    /// What all of a recording adds up to may be kept beside it.
    public var usesCache = false

    public init() {}
}
