internal import TraceAnalysis

/// A path that is exported, and what its callees without a path of their own add up to.
struct ExportedPath {
    var index: Int
    var path: CallPath
    /// Those there are, in the order of their cases.
    var remainders: [(kind: PathRemainder, sum: CallSum)]
}
