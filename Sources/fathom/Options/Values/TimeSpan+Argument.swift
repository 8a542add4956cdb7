internal import TraceAnalysis

extension TimeSpan {
    /// Reads a value of an option.
    init(argument: String) throws { try self.init(argument) }
}
