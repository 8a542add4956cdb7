/// Is told what is noticed while a question is answered.
public struct QueryListener {
    /// Takes one line about what is missing or damaged, as it is found.
    public var warn: (String) -> Void
    /// Takes how far a long task is, 0...1; 1 ends the task.
    public var progress: (Double) -> Void

    public init(warn: @escaping (String) -> Void = { _ in }, progress: @escaping (Double) -> Void = { _ in }) {
        self.warn = warn
        self.progress = progress
    }
}
