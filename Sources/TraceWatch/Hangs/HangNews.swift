internal import TraceAnalysis
public import TraceFindings

/// What ``HangWatcher`` reports.
public struct HangNews: Sendable {
    public enum Stage: Sendable {
        case began
        case goesOn
        case ended
    }

    /// Which report it belongs to: the same number from its beginning to its end.
    public var number: Int
    public var stage: Stage
    public var hang: Hang
}
