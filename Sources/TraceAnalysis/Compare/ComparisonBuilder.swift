/// Collects runs, one after another, and compares them when all are there.
///
/// A function is known by its name and its module's file name, without what follows `.so`: addresses and directories
/// differ from build to build. The program that was recorded is one module, whatever its file is called: `./old` is compared
/// with `./new`.
///
/// Memory follows the number of paths times the number of runs; the runs' trees are not kept.
public final class ComparisonBuilder {
    public enum Side: Sendable { case before, after }

    private struct Identity: Hashable {
        var module: String?
        var name: String
    }

    /// The numbers of one run, by path of `union` and by function.
    struct Run {
        var moment: UInt64
        var functions: [RunNumbers]
        var paths: [RunNumbers]
        var whole: RunNumbers
    }

    let functions: FunctionTable
    private(set) var before: [Run] = []
    private(set) var after: [Run] = []
    private let shown = ShownFunctions()
    private var known: [Identity: UInt32] = [:]
    private var union = CallPathTable()

    /// How functions are shown. The runs of the side after are preferred.
    private final class ShownFunctions {
        var functions: [ResolvedFunction] = []
    }

    public init() {
        functions = FunctionTable { [shown] _, address in shown.functions[Int(address) - 1] }
    }

    deinit { union.free() }

    /// Adds a run.
    ///
    /// - Parameters:
    ///   - tree: its call paths.
    ///   - program: path of the program that was recorded.
    ///   - moment: when it was made, in ns since any moment; 0 when that is not known.
    /// - Complexity: O(n log n) in the number of paths.
    public func add(_ tree: CallPathTree, to side: Side, program: String?, moment: UInt64) {
        let tree = translated(tree, side, program)
        var run = Run(moment: moment, functions: [], paths: [], whole: RunNumbers())
        run.functions = Array(repeating: RunNumbers(), count: functions.functions.count)
        for row in tree.rows(by: .function) {
            guard case .function(let id) = row.subject else { continue }
            run.functions[Int(id)] = RunNumbers(row)
        }
        var nodes: [UInt32] = []
        nodes.reserveCapacity(tree.paths.count)
        for path in tree.paths {
            let parent = path.parent < 0 ? 0 : nodes[Int(path.parent)]
            nodes.append(union.callee(of: parent, function: path.function))
        }
        run.paths = Array(repeating: RunNumbers(), count: union.count - 1)
        for (row, node) in zip(tree.rows(by: .path), nodes) { run.paths[Int(node) - 1] = RunNumbers(row) }
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
        (0..<(union.count - 1)).map { path in runs.map { path < $0.paths.count ? $0.paths[path] : RunNumbers() } }
    }

    var wholeNumbers: [RunNumbers] { runs.map(\.whole) }

    var paths: [(function: UInt32, parent: Int)] {
        (1..<union.count).map { (union.nodes[$0].function, Int(union.nodes[$0].parent) - 1) }
    }

    // MARK: Matching

    /// The same paths over `functions`.
    private func translated(_ tree: CallPathTree, _ side: Side, _ program: String?) -> CallPathTree {
        var ids = [UInt32?](repeating: nil, count: tree.functions.functions.count)
        var table = CallPathTable()
        var nodes: [UInt32] = []
        nodes.reserveCapacity(tree.paths.count)
        for path in tree.paths {
            let id = ids[Int(path.function)] ?? self.id(of: tree.functions[path.function], side, program)
            ids[Int(path.function)] = id
            let parent = path.parent < 0 ? 0 : nodes[Int(path.parent)]
            let node = table.callee(of: parent, function: id)
            table.add(path.sums, path.histogram, in: tree.histograms, to: node)
            nodes.append(node)
        }
        return CallPathTree(table, functions: functions)
    }

    private func id(of function: ResolvedFunction, _ side: Side, _ program: String?) -> UInt32 {
        let module = function.module.map { $0 == program ? "" : ComparisonBuilder.fileName($0) }
        let identity = Identity(module: module, name: function.name)
        if let id = known[identity] {
            if side == .after { shown.functions[Int(id)] = function }
            return id
        }
        // Address 0 stands for a function that is not known.
        let id = functions.intern(FunctionTable.Function(module: -1, address: UInt64(shown.functions.count + 1)))
        shown.functions.append(function)
        known[identity] = id
        return id
    }

    /// The last component of a path, without the version of a shared library.
    private static func fileName(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard let end = parts.dropFirst().firstIndex(of: "so") else { return name }
        return parts[...end].joined(separator: ".")
    }
}
