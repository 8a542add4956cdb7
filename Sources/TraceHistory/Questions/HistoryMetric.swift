/// What of a function or path.
public enum HistoryMetric: String, CaseIterable, Sendable {
    case total
    case `self`
    case calls
    case average
    /// How long single calls took.
    case call
    /// The part of the total in which threads waited.
    case blocked

    var isTime: Bool { self != .calls }
}
