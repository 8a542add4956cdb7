/// What a row of a report adds up.
public enum Grouping: String, CaseIterable, Sendable {
    case function, path, file
    /// Where calls were made, and not where what is called is defined.
    case line
    case module, thread, process
}
