internal import TraceAnalysis

/// The size of a file that has a row for each path, with the names of all the path's functions. Such a file grows with
/// the square of the paths' depth.
struct PathFileSize {
    /// The size in bytes of the largest file that is written.
    static let limit: UInt64 = 1_000_000_000

    /// By depth: the bytes of the rows of all paths.
    private var byDepth: [UInt64] = []
    /// By depth: the bytes of the rows `(left out)` that are added when the callees of paths of this depth are left
    /// out.
    private var cutByDepth: [UInt64] = []

    init() {}

    /// Adds the rows of `tree`.
    ///
    /// - Parameters:
    ///   - row: the bytes of a path's row besides the names along it; nil when the path has no row.
    ///   - remainder: the bytes of a remainder's row besides the names.
    ///   - nameBytes: the bytes that a function of the path takes in a row, with its separator; nil for those of its
    ///     name and one more.
    /// - Complexity: O(paths).
    mutating func add(
        _ tree: CallPathTree, minTotal: UInt64, remainder: UInt64, row: (CallPath) -> UInt64?,
        nameBytes: ((UInt32) -> UInt64)? = nil
    ) {
        /// Bytes of the names along the path, with separators, at each depth.
        var names: [UInt64] = []
        tree.forEachPath(minTotal: minTotal) { exported in
            let path = exported.path
            let depth = Int(path.depth)
            names.removeLast(names.count - depth)
            let name =
                nameBytes.map { $0(path.function) - (depth > 0 ? 1 : 0) }
                ?? UInt64(tree.functions[path.function].name.utf8.count)
            names.append((names.last ?? 0) + name + (depth > 0 ? 1 : 0))
            if depth == byDepth.count {
                byDepth.append(0)
                cutByDepth.append(0)
            }
            if let bytes = row(path) { byDepth[depth] += names[depth] + bytes }
            for (kind, _) in exported.remainders {
                byDepth[depth] += names[depth] + UInt64(kind.name.utf8.count) + 1 + remainder
            }
            if path.end > exported.index + 1 {
                cutByDepth[depth] += names[depth] + UInt64(PathRemainder.leftOut.name.utf8.count) + 1 + remainder
            }
        }
    }

    var total: UInt64 { byDepth.reduce(0, +) }

    /// The largest depth to limit paths to for a file within `limit`; nil when no depth makes it that small.
    func maxDepth(within limit: UInt64) -> Int? {
        var sum: UInt64 = 0
        var result: Int?
        for (depth, bytes) in byDepth.enumerated() {
            sum += bytes
            if sum > limit { break }
            if sum + cutByDepth[depth] <= limit { result = depth }
        }
        return result
    }

    /// Tells why the file is not written, and what helps, if it is beyond `limit`; otherwise nil.
    ///
    /// - Parameter isCompressed: whether the format compresses what is written, so that the file becomes smaller than this.
    func refusal(limit: UInt64 = PathFileSize.limit, isCompressed: Bool = false) -> String? {
        guard total > limit else { return nil }
        let help = maxDepth(within: limit).map { "--max-depth \($0)" } ?? "--filter FUNCTION or --min-cost TIME"
        let verb = maxDepth(within: limit) == nil ? "makes it smaller" : "fits"
        let size = PathFileSize.gigabytes(total) + (isCompressed ? " before compression" : "")
        return
            "the file would have about \(size), more than \(PathFileSize.gigabytes(limit)): "
            + "every path's row names all its callers; \(help) \(verb)"
    }

    /// `bytes` to a tenth, rounded up.
    private static func gigabytes(_ bytes: UInt64) -> String {
        let tenths = (bytes + 99_999_999) / 100_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) GB" : "\(tenths / 10).\(tenths % 10) GB"
    }
}
