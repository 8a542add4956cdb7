/// What a row of a report adds up.
public enum Grouping: String, CaseIterable, Sendable {
    case function, path, file, module, thread, process
}
