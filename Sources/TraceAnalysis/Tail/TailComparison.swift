/// Compares a function's slowest calls with its typical ones: it shows on which call paths below the function the slowest calls
/// spend the time by which they are longer.
public struct TailComparison {
    /// What the calls on one side add up to. Times in ns.
    public struct Side: Sendable {
        public let calls: UInt64
        public let total: UInt64
        /// The durations of the shortest and the longest of them.
        public let durations: ClosedRange<UInt64>

        public var mean: Double { Double(total) / Double(calls) }
    }

    /// One call path, the function's own being the first. Means over the function's calls on one side, times in ns.
    public struct Means: Sendable, Equatable {
        public let calls: Double
        public let total: Double
        /// Time that is in no callee, with that of callees which the record options left out.
        public let own: Double
    }

    public struct Path {
        /// Id in the ``FunctionTable``.
        public let function: UInt32
        /// Index of the caller's path, or -1.
        public let parent: Int
        /// The function's calls are depth 0.
        public let depth: UInt32
        public let slow: Means
        public let typical: Means

        /// What it adds to the difference of the means, with its callees and without.
        public var difference: Double { slow.total - typical.total }
        public var ownDifference: Double { slow.own - typical.own }
    }

    /// One of the slowest calls.
    public struct SlowCall {
        public let thread: ThreadLabel
        /// Id in the ``FunctionTable``.
        public let function: UInt32
        /// ns since the session's start, in the thread's own time.
        public let start: UInt64
        /// ns.
        public let duration: UInt64
        /// Whether it ended by an exception or a longjmp.
        public let isUnwound: Bool
        /// The last mark of its thread before it, and when that was, in ns since the session's start.
        public let mark: (name: String, moment: UInt64)?
        /// Index in ``causes`` of the path whose own time exceeds that of a typical call most, of the four paths with the
        /// most own time in this call.
        public let cause: Int
    }

    public let functions: FunctionTable
    /// How long all of the function's calls took.
    public let durations: DurationRanks
    public let slow: Side
    /// Those from the 25th to the 75th percentile that are not among the slowest.
    public let typical: Side
    /// The slowest calls, the longest first.
    public let slowest: [SlowCall]
    /// Paths as the ids of their functions, the root first.
    public let causes: [[UInt32]]
    /// Calls of the function that began before the recording, or did not end in it, and how much is known of the longest.
    public let partial: (calls: UInt64, longest: UInt64)
    /// Callees of the calls compared that the record options left out.
    public let dropped: CallSum
    /// The paths of the slowest calls, and those of the typical ones: the same paths in the same order, each with the sums
    /// of the calls on its side, which may be none.
    let trees: (slow: CallPathTree, typical: CallPathTree)

    /// By how many ns the slowest calls are longer on average.
    public var difference: Double { slow.mean - typical.mean }

    /// The number of paths of the calls on both sides, a caller's before its callees'.
    public var pathCount: Int { trees.slow.paths.count }

    public func path(_ index: Int) -> Path {
        let path = trees.slow.paths[index]
        return Path(
            function: path.function, parent: Int(path.parent), depth: path.depth,
            slow: means(path.sums, slow), typical: means(trees.typical.paths[index].sums, typical))
    }

    private func means(_ sums: CallPathSums, _ side: Side) -> Means {
        let calls = Double(side.calls)
        return Means(
            calls: Double(sums.calls) / calls, total: Double(sums.total) / calls, own: Double(sums.selfTime) / calls)
    }

    /// Indices of the paths without a caller, and of those called directly by path `index`.
    public var roots: CallPathTree.Siblings { trees.slow.roots }
    public func callees(of index: Int) -> CallPathTree.Siblings { trees.slow.callees(of: index) }

    /// Ids of the functions of a path, the root's first.
    public func functions(ofPath index: Int) -> [UInt32] {
        Array(
            sequence(state: index) { index -> UInt32? in
                guard index >= 0 else { return nil }
                let path = trees.slow.paths[index]
                index = Int(path.parent)
                return path.function
            }.reversed())
    }

    /// Indices of the paths, those first whose own time adds most to the difference.
    ///
    /// - Complexity: O(n log n).
    public var pathsByOwnDifference: [Int] {
        let differences = (0..<pathCount).map { path($0).ownDifference }
        return differences.indices.sorted { (differences[$0], $1) > (differences[$1], $0) }
    }

    /// The call paths below the slowest calls, and those below as many typical ones.
    ///
    /// - Complexity: O(n) in the number of paths.
    public var equalTrees: (slow: CallPathTree, typical: CallPathTree) {
        (trees.slow, trees.typical.scaled(by: Double(slow.calls) / Double(typical.calls)))
    }
}

extension CallPathTree {
    /// The same paths with numbers of calls and times that are so many times as great, rounded.
    fileprivate func scaled(by factor: Double) -> CallPathTree {
        func scaled(_ number: UInt64) -> UInt64 { UInt64((Double(number) * factor).rounded()) }
        let store = paths.store.copy { _, sums in
            sums.calls = scaled(sums.calls)
            sums.total = scaled(sums.total)
            sums.selfTime = scaled(sums.selfTime)
        }
        return CallPathTree(store, functions: functions, cost: cost)
    }
}
