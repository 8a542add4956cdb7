/// How the rows of functions and threads are made from what was recorded, unless the query asks for something else.
public struct RowSettings {
    public let cost: TracingCost?
    /// Whether compiler-made functions are hidden. Nothing else is.
    public let hidesCompilerMade: Bool

    public init(cost: TracingCost?, hidesCompilerMade: Bool) {
        self.cost = cost
        self.hidesCompilerMade = hidesCompilerMade
    }

    var isAsRecorded: Bool { cost == nil && !hidesCompilerMade }

    /// The tree that the rows are made of. `tree` is as it was recorded.
    public func shown(_ tree: CallPathTree) -> CallPathTree {
        var filter = TreeFilter()
        filter.hidesCompilerMade = hidesCompilerMade
        return (cost.map(tree.corrected) ?? tree).filtered(filter)
    }
}
