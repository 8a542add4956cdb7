internal import TraceAnalysis

/// How large a file becomes that has a row for each path, with the names of all its functions: what such a file holds
/// grows with the square of the paths' depth.
struct PathFileSize {
    /// Bytes of a file that is still written.
    static let limit: UInt64 = 1_000_000_000

    /// Bytes of the rows of all paths of a depth.
    private var byDepth: [UInt64] = []
    /// By depth: bytes that rows for what is left out take, when callees of paths of this depth are.
    private var cutByDepth: [UInt64] = []

    /// - Parameters:
    ///   - row: bytes of a path's row besides the names along it; nil when it has none.
    ///   - remainder: likewise, of a row for a remainder.
    ///   - nameBytes: bytes that a function of the path takes in a row, separator and all; nil for its name and one byte.
    /// - Complexity: O(paths).
    init(
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

    /// The largest depth that paths may be limited to for a file within `limit`; nil when none is.
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

    /// Why the file is not to be written, if it is beyond `limit`, and what helps.
    func refusal(limit: UInt64 = PathFileSize.limit) -> String? {
        guard total > limit else { return nil }
        let help = maxDepth(within: limit).map { "--max-depth \($0)" } ?? "--filter FUNCTION or --min-cost TIME"
        let verb = maxDepth(within: limit) == nil ? "makes it smaller" : "fits"
        return
            "the file would have about \(PathFileSize.gigabytes(total)), more than \(PathFileSize.gigabytes(limit)): "
            + "every path's row names all its callers; \(help) \(verb)"
    }

    /// `bytes` to a tenth, rounded up.
    private static func gigabytes(_ bytes: UInt64) -> String {
        let tenths = (bytes + 99_999_999) / 100_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) GB" : "\(tenths / 10).\(tenths % 10) GB"
    }
}
