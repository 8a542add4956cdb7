internal import TraceAnalysis

/// A path that is exported, with the sums of its callees that have no path of their own.
struct ExportedPath {
    var index: Int
    var path: CallPath
    /// The remainders that it has, in the order of their cases.
    var remainders: [(kind: PathRemainder, sum: CallSum)]
}
