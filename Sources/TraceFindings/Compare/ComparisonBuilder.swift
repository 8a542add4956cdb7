public import TraceAnalysis

/// Collects runs, one after another, and compares them when all are there.
///
/// Functions are the same as ``IdentifiedFunctions`` says.
///
/// Memory follows the number of paths times the number of runs; the runs' trees are not kept.
public final class ComparisonBuilder {
    public enum Side: Sendable { case before, after }

    /// The numbers of one run, by path of `union` and by function.
    struct Run {
        var moment: UInt64
        var functions: [RunNumbers]
        var paths: [RunNumbers]
        var whole: RunNumbers
    }

    var functions: FunctionTable { identified.functions }
    private let identified = IdentifiedFunctions()
    private(set) var before: [Run] = []
    private(set) var after: [Run] = []
    private let union = PathUnion()

    public init() {}

    /// Adds a run.
    ///
    /// - Parameters:
    ///   - tree: its call paths.
    ///   - program: path of the program that was recorded.
    ///   - moment: when it was made, in ns since any moment; 0 when that is not known.
    /// - Complexity: O(n log n) in the number of paths.
    public func add(_ tree: CallPathTree, to side: Side, program: String?, moment: UInt64) {
        // The functions are shown as they are after.
        let tree = identified.translated(tree, program: program, isPreferred: side == .after)
        var run = Run(moment: moment, functions: [], paths: [], whole: RunNumbers())
        run.functions = Array(repeating: RunNumbers(), count: functions.functions.count)
        for row in tree.rows(by: .function) {
            guard case .function(let id) = row.subject else { continue }
            run.functions[Int(id)] = RunNumbers(row)
        }
        let indices = union.add(tree)
        run.paths = Array(repeating: RunNumbers(), count: union.count)
        for (row, index) in zip(tree.rows(by: .path), indices) { run.paths[index] = RunNumbers(row) }
        run.whole = RunNumbers(
            calls: run.functions.reduce(0) { $0 + $1.calls }, total: Double(tree.total),
            selfTime: run.functions.reduce(0) { $0 + $1.selfTime }, isPresent: true)
        switch side {
        case .before: before.append(run)
        case .after: after.append(run)
        }
    }

    /// Compares what was added; each side must have a run.
    ///
    /// - Complexity: O(n log n) in the number of paths, times the number of runs.
    public func comparison(options: SessionComparison.Options = SessionComparison.Options()) -> SessionComparison {
        precondition(!before.isEmpty && !after.isEmpty, "a side without a run")
        return SessionComparison(self, options: options)
    }

    // MARK: What is compared

    private var runs: [Run] { before + after }

    /// When the runs were made; empty when that is not known of all of them.
    var moments: [Double] {
        let moments = runs.map { Double($0.moment) }
        return moments.contains(0) ? [] : moments
    }

    /// By function id, then by run.
    var functionNumbers: [[RunNumbers]] {
        functions.functions.indices.map { id in
            runs.map { id < $0.functions.count ? $0.functions[id] : RunNumbers() }
        }
    }

    /// By path, then by run.
    var pathNumbers: [[RunNumbers]] {
        (0..<union.count).map { path in runs.map { path < $0.paths.count ? $0.paths[path] : RunNumbers() } }
    }

    var wholeNumbers: [RunNumbers] { runs.map(\.whole) }

    var paths: [(function: UInt32, parent: Int)] { union.paths }
}
