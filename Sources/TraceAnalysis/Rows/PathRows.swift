/// The row of every path of a tree. Each is made when it is asked for, because rows take more memory than paths.
public struct PathRows {
    private let tree: CallPathTree
    private let waits: PathWaits
    private let scratch = Scratch()

    private final class Scratch {
        var reader = PercentileReader()
    }

    public init(_ tree: CallPathTree) {
        self.tree = tree
        waits = PathWaits(of: tree)
    }

    /// The row of path `index`.
    ///
    /// - Complexity: O(1), besides the percentiles.
    public subscript(index: Int) -> AggregateRow { row(index, percentiles: true) }

    /// The row of path `index`.
    ///
    /// - Parameter percentiles: whether to find the percentiles, which take longest.
    public func row(_ index: Int, percentiles: Bool) -> AggregateRow {
        let path = tree.paths[index]
        var sums = RowSums()
        sums.add(path.sums, isOutermost: true, waits, index)
        var taken = Percentiles()
        if percentiles, sums.calls > 0 {
            scratch.reader.add(tree.histograms, path.histogram, of: path.sums)
            taken = scratch.reader.take(of: sums)
        }
        return AggregateRow(.path(index), sums, taken, cost: tree.cost)
    }
}
