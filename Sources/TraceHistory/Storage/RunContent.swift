public import TraceAnalysis
internal import TraceFile

/// What the calls of one run add up to, and what else is kept of it.
public struct RunContent {
    public typealias Identity = IdentifiedFunctions.Identity

    public struct Function {
        public var identity: Identity
        public var sums: SubjectSums
        /// Blocks that the function itself allocated, and their bytes; 0 where that was not recorded.
        public var allocations: UInt64 = 0
        public var allocatedBytes: UInt64 = 0

        /// Path of its module, and where it is defined; nil where that is not known or was not asked. Histories do not keep them.
        public var module: String?
        public var file: String?
        public var line: Int?

        public init(identity: Identity, sums: SubjectSums) {
            self.identity = identity
            self.sums = sums
        }
    }

    public struct Path {
        /// Index of the caller's path, which comes before; -1 for a root.
        public var caller: Int
        /// Index of the function.
        public var function: Int
        public var sums: SubjectSums
    }

    public struct Module: Hashable {
        public var path: String
        /// In hexadecimal; empty when it has none.
        public var buildID: String
    }

    public var functions: [Function] = []
    public var paths: [Path] = []
    public var modules: [Module] = []
    public var events = ProgramEvents()
    /// In the order in which they are shown.
    public var measures: [(measure: RunMeasure, value: UInt64)] = []

    /// Whether it was recorded what was allocated.
    public var tellsAllocations: Bool { measures.contains { $0.measure == .allocations } }

    public init() {}

    /// - Parameters:
    ///   - tree: as it was recorded.
    ///   - program: path of the program that was recorded.
    /// - Complexity: O(n log n) in the number of paths.
    public init(_ tree: CallPathTree, program: String?) {
        let identified = IdentifiedFunctions()
        let tree = identified.translated(tree, program: program)
        var reader = DurationReader()
        var members = [[Int]](repeating: [], count: identified.identities.count)
        paths.reserveCapacity(tree.paths.count)
        for (index, path) in tree.paths.enumerated() {
            members[Int(path.function)].append(index)
            var sums = SubjectSums(path.sums)
            if sums.calls > 2 {
                reader.add(tree, index)
                sums.durations = reader.take()
            }
            paths.append(Path(caller: Int(path.parent), function: Int(path.function), sums: sums))
        }
        functions = identified.identities.indices.map { id in
            var function = Function(identity: identified.identities[id], sums: SubjectSums())
            let shown = identified.functions[UInt32(id)]
            (function.module, function.file) = (shown.module, shown.file)
            if shown.file != nil, shown.line > 0 { function.line = shown.line }
            return function
        }
        for row in tree.rows(by: .function) {
            guard case .function(let id) = row.subject else { continue }
            var sums = SubjectSums(row)
            if sums.calls > 2 {
                for index in members[Int(id)] { reader.add(tree, index) }
                sums.durations = reader.take()
            }
            functions[Int(id)].sums = sums
            functions[Int(id)].allocations = row.selfMemory.allocations
            functions[Int(id)].allocatedBytes = row.selfMemory.bytes
        }
    }
}

extension SubjectSums {
    fileprivate init(_ sums: CallPathSums) {
        (calls, total, selfTime) = (sums.calls, sums.total, sums.selfTime)
        if calls > 0 { (minimum, maximum) = (sums.minimum, sums.maximum) }
        shortestEnded = sums.shortestEnded
        (blocked, runnable) = (sums.offCPU.blocked, sums.offCPU.runnable)
    }

    fileprivate init(_ row: AggregateRow) {
        (calls, total, selfTime) = (row.calls, row.total, row.selfTime)
        (minimum, maximum) = (row.minimum, row.maximum)
        (blocked, runnable) = (row.offCPU.blocked, row.offCPU.runnable)
    }
}
