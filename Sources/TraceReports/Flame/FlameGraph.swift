public import TraceAnalysis
internal import TraceFile

/// A flame graph (B. Gregg, The Flame Graph, CACM 59(6), 2016), whose frames are call paths, as wide as their total
/// time; or a flame chart, whose frames are calls, each where it was in time.
public struct FlameGraph {
    /// A rectangle of the graph.
    struct Frame {
        /// Id in the ``FunctionTable``, or `summed`.
        var function: UInt32
        /// Roots are depth 0.
        var depth: UInt32
        var calls: UInt64
        /// Where it begins, in ns from the left.
        var start: UInt64
        /// Width, in ns.
        var total: UInt64
        /// ns.
        var selfTime: UInt64
        /// What it was before, in a differential flame graph.
        var before: Before? = nil
    }

    /// What frames are coloured by.
    public enum Colouring: String, CaseIterable, Sendable {
        case module, kind
    }

    public struct Options: Sendable {
        public var title = ""
        public var colouring = Colouring.module
        /// Whether the root is at the bottom, instead of at the top.
        public var isInverted = false
        /// In ns: paths that took less are left out, with what is below them.
        public var minTotal: UInt64 = 0

        public init() {}
    }

    /// Stands in place of a function for a frame that stands for several, see `summing(narrowerThan:)`.
    static let summed = UInt32.max

    let names: FunctionTable
    let options: Options
    /// Whether frames are calls, each where it was in time.
    let isTimeOrder: Bool
    /// In pre-order.
    let frames: [Frame]
    /// By function id: the function's number in `functions`, or -1 for a function that is not shown.
    let numbers: [Int32]
    /// Ids of the functions that are shown.
    let functions: [UInt32]
    /// By number: what colours the function, as an index in `modules` and `kinds`.
    let moduleOf: [Int]
    let modules: [String]
    let kindOf: [Int]
    let kinds: [String]
    /// By number: the function's shade of its group's colour.
    let shades: [Int]
    /// Width of the whole, in ns.
    let total: UInt64

    /// The flame graph of call paths, a caller's callees side by side by the start of their first call.
    ///
    /// - Complexity: O(paths).
    public init(_ tree: CallPathTree, options: Options) {
        var frames: [Frame] = []
        /// By depth: where the next callee begins.
        var next: [UInt64] = [0]
        var index = 0
        while index < tree.paths.count {
            let path = tree.paths[index]
            guard path.sums.total >= options.minTotal else {
                index = Int(path.end)
                continue
            }
            let depth = Int(path.depth)
            next.removeLast(next.count - depth - 1)
            frames.append(
                Frame(
                    function: path.function, depth: path.depth, calls: path.sums.calls, start: next[depth],
                    total: path.sums.total, selfTime: path.sums.selfTime))
            next.append(next[depth])
            next[depth] &+= path.sums.total
            index += 1
        }
        self.init(frames, total: next[0], isTimeOrder: false, names: tree.functions, options: options)
    }

    /// - Parameter total: width of the whole, in ns.
    init(_ frames: [Frame], total: UInt64, isTimeOrder: Bool, names: FunctionTable, options: Options) {
        var numbers = [Int32](repeating: -1, count: names.functions.count)
        var functions: [UInt32] = []
        for frame in frames where frame.function != FlameGraph.summed && numbers[Int(frame.function)] < 0 {
            numbers[Int(frame.function)] = Int32(functions.count)
            functions.append(frame.function)
        }
        var moduleGroups = Groups()
        var kindGroups = Groups()
        moduleOf = functions.map { moduleGroups.number(of: FlameGraph.moduleName(names[$0])) }
        kindOf = functions.map { kindGroups.number(of: FlameGraph.kind(names[$0])) }
        modules = moduleGroups.names
        kinds = kindGroups.names
        shades = functions.map { FlamePalette.shade(of: names[$0].name) }
        self.names = names
        self.isTimeOrder = isTimeOrder
        self.options = options
        self.frames = frames
        self.numbers = numbers
        self.functions = functions
        self.total = total
    }

    /// More frames than this make a page that is slow to open.
    public static let comfortableFrames = 1_000_000

    public var frameCount: Int { frames.count }

    /// Whether there is anything to show.
    public var isEmpty: Bool { frames.isEmpty }

    private struct Groups {
        var names: [String] = []
        private var known: [String: Int] = [:]

        mutating func number(of name: String) -> Int {
            if let number = known[name] { return number }
            known[name] = names.count
            names.append(name)
            return names.count - 1
        }
    }

    private static func moduleName(_ function: ResolvedFunction) -> String {
        guard let path = function.module else { return "no module" }
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The language of a function, by its source file's ending, or by what its name tells.
    private static func kind(_ function: ResolvedFunction) -> String {
        let file = function.file?.split(separator: "/").last
        switch file?.split(separator: ".").dropFirst().last {
        case "c": return "C"
        case "cc", "cpp", "cxx", "C", "hpp", "hh", "tcc", "ipp": return "C++"
        case "swift": return "Swift"
        case "rs": return "Rust"
        default: return function.name.contains("::") ? "C++" : function.file == nil ? "no source" : "C"
        }
    }
}
