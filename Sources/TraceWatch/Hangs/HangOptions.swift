public import TraceAnalysis
public import TraceFindings

/// What is watched for.
public struct HangOptions {
    /// Which events are not to take long.
    public enum Root {
        /// Calls below main on the main thread, and pieces of Swift's tasks on any.
        case main
        /// Calls of these functions, on any thread.
        case functions([Pattern])
        /// The time between two marks that a thread sets.
        case marks(begin: String, end: String)
    }

    public var limits = HangLimits()
    public var root = Root.main
    /// The mark that says that the program has started; nil: none does.
    public var launched: String?

    public init() {}

    /// Whether marks are to be read.
    public var wantsMarks: Bool { !marks.isEmpty }

    /// The marks that mean something.
    var marks: [String] {
        let ends: [String] = if case .marks(let begin, let end) = root { [begin, end] } else { [] }
        return ends + (launched.map { [$0] } ?? [])
    }
}
