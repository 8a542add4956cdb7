internal import TraceAnalysis

/// Time of a path that is neither its own nor that of a path that is shown below it. It is shown as a callee, which
/// stands for the calls that are not shown.
enum PathRemainder: Int, CaseIterable {
    /// Callees that the record options left out.
    case notRecorded
    /// Callees that the filter leaves out. Their number is not known.
    case leftOut

    /// The name of the function that stands for it.
    var name: String {
        switch self {
        case .notRecorded: "(not recorded)"
        case .leftOut: "(left out)"
        }
    }

    /// The id of the function that stands for it, behind those of `functions`.
    func id(beside functions: FunctionTable) -> Int { functions.functions.count + rawValue }
}

extension CallPathTree {
    /// Calls `body` with each path that took `minTotal` ns at least, callers before callees. The self times and
    /// remainders of all paths add up to the totals of the roots.
    ///
    /// - Complexity: O(paths).
    func forEachPath(minTotal: UInt64, _ body: (ExportedPath) -> Void) {
        var index = 0
        while index < paths.count {
            let path = paths[index]
            guard isLong(index, least: minTotal) else {
                index = Int(path.end)
                continue
            }
            var remainders: [(kind: PathRemainder, sum: CallSum)] = []
            if path.sums.dropped != CallSum() { remainders.append((.notRecorded, path.sums.dropped)) }
            let leftOut = timeLeftOut(at: index, minTotal)
            if leftOut > 0 { remainders.append((.leftOut, CallSum(calls: 0, time: leftOut))) }
            body(ExportedPath(index: index, path: path, remainders: remainders))
            index += 1
        }
    }

    /// The time in ns of path `index` that is neither its own, nor that of callees that are shown or were not recorded.
    private func timeLeftOut(at index: Int, _ minTotal: UInt64) -> UInt64 {
        let sums = paths[index].sums
        var known = sums.selfTime &+ sums.dropped.time
        for callee in callees(of: index) where isLong(callee, least: minTotal) {
            known &+= paths[callee].sums.total
        }
        return sums.total > known ? sums.total - known : 0
    }
}
