public import TraceFile

/// Some calls of functions, by their arguments.
public struct ArgumentFilter {
    public var function: Pattern
    public var comparisons: [ArgumentComparison]

    public init(_ function: Pattern, _ comparisons: [ArgumentComparison]) {
        self.function = function
        self.comparisons = comparisons
    }
}
