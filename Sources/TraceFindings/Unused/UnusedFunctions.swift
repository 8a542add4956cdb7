/// The functions that no run called, or only few runs.
public struct UnusedFunctions {
    /// What functions are grouped by.
    public enum Group: String, CaseIterable, Sendable { case function, file, folder, module }

    /// How many functions, and how large they are.
    public struct Sums: Sendable, Equatable {
        public var functions = 0
        public var bytes: UInt64 = 0
        public var lines = 0

        mutating func add(_ function: DefinedFunction) {
            functions += 1
            bytes &+= function.bytes
            lines += function.lineCount
        }
    }

    /// The functions of one file, folder or module.
    public struct Row: Sendable, Equatable {
        /// Nil where the file is not known.
        public var place: String?
        public var unused = Sums()
        public var all = Sums()
    }

    /// Those that too few runs called, the largest first.
    public let functions: [DefinedFunction]
    public let unused: Sums
    /// All that a call could be seen of.
    public let all: Sums
    /// How many functions have no hooks, so that nothing is known of them.
    public let unknown: Int
    public let runs: Int
    private let defined: [DefinedFunction]
    private let limit: Int

    /// - Parameters:
    ///   - defined: all functions that a call could be seen of, each once.
    ///   - unknown: how many others there are.
    ///   - runs: of how many runs calls were looked at.
    ///   - limit: functions that fewer runs called are listed.
    public init(_ defined: [DefinedFunction], unknown: Int, runs: Int, calledByFewerThan limit: Int = 1) {
        self.defined = defined
        self.unknown = unknown
        self.runs = runs
        self.limit = limit
        functions = defined.filter { UnusedFunctions.isListed($0, limit) }
            .sorted { ($0.runs, $1.bytes, $0.name, $0.line) < ($1.runs, $0.bytes, $1.name, $1.line) }
        unused = UnusedFunctions.sums(functions)
        all = UnusedFunctions.sums(defined)
    }

    /// A function that could not be called in `limit` runs is listed when it was not called in all that had it.
    private static func isListed(_ function: DefinedFunction, _ limit: Int) -> Bool {
        function.runs < min(limit, max(function.possibleRuns, 1))
    }

    private static func sums(_ functions: [DefinedFunction]) -> Sums {
        functions.reduce(into: Sums()) { $0.add($1) }
    }

    /// The names of functions that are not listed.
    public var otherNames: [String] {
        defined.lazy.filter { !UnusedFunctions.isListed($0, limit) }.map(\.name)
    }

    /// Groups unused functions by the place where they are, the places with the most unused bytes first.
    ///
    /// - Complexity: O(n log n) in the number of functions.
    public func rows(by group: Group) -> [Row] {
        var rows: [String?: Row] = [:]
        for function in defined {
            let place = UnusedFunctions.place(of: function, group)
            rows[place, default: Row(place: place)].all.add(function)
            if UnusedFunctions.isListed(function, limit) { rows[place]?.unused.add(function) }
        }
        return rows.values.filter { $0.unused.functions > 0 }
            .sorted { ($1.unused.bytes, $0.place ?? "") < ($0.unused.bytes, $1.place ?? "") }
    }

    private static func place(of function: DefinedFunction, _ group: Group) -> String? {
        switch group {
        case .function: function.name
        case .file: function.file
        case .folder: function.file?.lastIndex(of: "/").flatMap { slash in function.file.map { String($0[..<slash]) } }
        case .module: function.module
        }
    }
}
