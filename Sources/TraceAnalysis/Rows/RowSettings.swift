/// How the rows of functions and threads are made of what was recorded, where nobody asks for anything else.
public struct RowSettings {
    public let cost: TracingCost?
    /// What is hidden, and nothing else.
    public let hidesCompilerMade: Bool

    public init(cost: TracingCost?, hidesCompilerMade: Bool) {
        self.cost = cost
        self.hidesCompilerMade = hidesCompilerMade
    }

    var isAsRecorded: Bool { cost == nil && !hidesCompilerMade }

    /// What of `tree`, which is as it was recorded, the rows are of.
    public func shown(_ tree: CallPathTree) -> CallPathTree {
        var filter = TreeFilter()
        filter.hidesCompilerMade = hidesCompilerMade
        return (cost.map(tree.corrected) ?? tree).filtered(filter)
    }
}
