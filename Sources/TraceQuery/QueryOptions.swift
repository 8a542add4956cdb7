public import TraceAnalysis

/// What is asked of a session.
public struct QueryOptions {
    /// Whether the cost of tracing is taken out of times.
    public enum Times: Sendable {
        case raw
        /// It is, if it was measured and all of the recording is looked at.
        case correctedIfKnown
        /// It is; where it cannot be, that is an error.
        case corrected
    }

    public var selection = ThreadSelection.all
    /// What calls are hidden; ``TreeFilter/hidesCompilerMade`` is found out by the session.
    public var filter = TreeFilter()
    /// Files and directories in which the symbols of stripped programs are looked for.
    public var symbolFiles: [String] = []
    /// Every function is by itself, under its full name.
    public var rawNames = false
    /// Functions that only the compiler knows of are shown, whatever names are.
    public var showsCompilerMade = false
    /// The pieces of Swift's tasks are joined. Threads that are asked for by themselves are as they were.
    public var joinsTasks = true
    /// Functions have the file and line of their definition, which costs more to find.
    public var lines = true
    public var times = Times.raw
    /// What all of a recording adds up to may be kept beside it.
    public var usesCache = false

    public init() {}
}
