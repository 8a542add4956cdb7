public import TraceAnalysis
internal import TraceFile
internal import TracePage

/// A flame graph (B. Gregg, The Flame Graph, CACM 59(6), 2016), whose frames are call paths, as wide as their total
/// time; or a flame chart, whose frames are calls, each where it was in time.
public struct FlameGraph {
    /// A rectangle of the graph. There may be a million, so it takes 56 bytes and no more.
    struct Frame {
        /// Id in the ``FunctionTable``, `summed`, or a `band(_:)`.
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
        /// The part of `total` in which nothing ran: the thread was blocked or wanted a CPU, or the task was suspended. ns; 0 where
        /// that is not known.
        var waiting: UInt64 = 0
        /// The part of `selfTime` in which nothing ran, ns.
        var ownWaiting: UInt64 = 0

        /// The part of `selfTime` in which it may have run, ns: what makes a frame hot.
        var ownRunning: UInt64 { selfTime &- min(ownWaiting, selfTime) }

        /// Whether it did little else: nearly all of it is its own waiting.
        var isWait: Bool { ownWaiting >= total &- total / 20 }

        /// No other frame lies there.
        var place: Place { Place(depth: depth, start: start) }
    }

    /// Where a frame lies.
    struct Place: Hashable {
        var depth: UInt32
        var start: UInt64
    }

    /// What frames are coloured by.
    public enum Colouring: String, CaseIterable, Sendable {
        case module, kind, file, namespace
        /// By own time: the more, the stronger.
        case `self`

        /// Those that colour functions by the group that they are in.
        static let groupings: [Colouring] = [.module, .kind, .file, .namespace]
    }

    public struct Options: Sendable {
        public var title = ""
        /// nil: modules, or what tells more where nearly all own time is in one module.
        public var colouring: Colouring?
        /// Whether the root is at the bottom, instead of at the top.
        public var isInverted = false
        /// What widths are.
        public enum Unit: Sendable { case time, bytes, faults }
        public var unit = Unit.time
        /// In ns: paths that took less are left out, with what is below them.
        public var minTotal: UInt64 = 0
        /// When the session began, in ns since 1970: what a chart tells the time of day by.
        public var began: UInt64 = 0

        public init() {}
    }

    /// Stands in place of a function for a frame that stands for several, see `summing(narrowerThan:)`.
    static let summed = UInt32.max
    /// Stands in place of a function for the row that begins band `index` of a chart, which lasts as long as its calls.
    static func band(_ index: Int) -> UInt32 { summed - 1 - UInt32(index) }

    let names: FunctionTable
    let options: Options
    /// What a flame chart shows besides calls; nil of a flame graph.
    let timeline: FlameTimeline?
    /// In pre-order.
    let frames: [Frame]
    /// By function id: the function's number in `functions`, or -1 for a function that is not shown.
    let numbers: [Int32]
    /// Ids of the functions that are shown.
    let functions: [UInt32]
    /// The groups that colour functions.
    let groups: [Colouring: FlameGroups]
    /// By number: the function's shade of its group's colour.
    let shades: [Int]
    /// The own time on a CPU in ns, in increasing order, from which on a frame has steps 1, 2, ... of own time's colours.
    let ownTimeSteps: [UInt64]
    /// What frames were before, in a differential flame graph.
    var changes: [Place: Before] = [:]
    /// The totals before and after, in ns, in a differential flame graph.
    var totals: (before: UInt64, after: UInt64)?
    /// Width of the whole, in ns.
    let total: UInt64
    /// What frames are coloured by.
    let colouring: Colouring
    /// From the beginning of the first call to the end of the last one, in ns; nil where that is not known. `total` is the sum over
    /// all threads.
    var wall: UInt64?
    /// What panes of a chart's page show: commands, and what these answer of the same calls.
    public var panes: [(command: String, answer: [UInt8])] = []

    /// The flame graph of call paths, a caller's callees side by side by the start of their first call.
    ///
    /// - Complexity: O(paths).
    public init(_ tree: CallPathTree, options: Options) {
        var frames: [Frame] = []
        /// By depth: where the next callee begins.
        var next: [UInt64] = [0]
        var index = 0
        let waits = options.unit == .time ? FlameGraph.waits(of: tree) : []
        while index < tree.paths.count {
            let path = tree.paths[index]
            guard tree.isLong(index, least: options.minTotal), path.sums.total > 0 || options.unit == .time else {
                index = Int(path.end)
                continue
            }
            let depth = Int(path.depth)
            next.removeLast(next.count - depth - 1)
            frames.append(
                Frame(
                    function: path.function, depth: path.depth, calls: path.sums.calls, start: next[depth],
                    total: path.sums.total, selfTime: path.sums.selfTime, waiting: waits.isEmpty ? 0 : waits[index].all,
                    ownWaiting: waits.isEmpty ? 0 : waits[index].own))
            next.append(next[depth])
            next[depth] &+= path.sums.total
            index += 1
        }
        self.init(frames, total: next[0], timeline: nil, names: tree.functions, options: options)
        let roots = tree.paths.lazy.filter { $0.depth == 0 && $0.sums.lastEnd > 0 }.map(\.sums)
        if options.unit == .time, let begin = roots.map(\.firstStart).min(), let end = roots.map(\.lastEnd).max(),
            end > begin
        {
            wall = end - begin
        }
    }

    /// - Parameters:
    ///   - total: width of the whole, in ns.
    ///   - timeline: nil of a flame graph.
    init(_ frames: [Frame], total: UInt64, timeline: FlameTimeline?, names: FunctionTable, options: Options) {
        var numbers = [Int32](repeating: -1, count: names.functions.count)
        var functions: [UInt32] = []
        var weights: [UInt64] = []
        var longest: UInt64 = 0
        for frame in frames where frame.function < names.functions.count {
            if numbers[Int(frame.function)] < 0 {
                numbers[Int(frame.function)] = Int32(functions.count)
                functions.append(frame.function)
                weights.append(0)
            }
            weights[Int(numbers[Int(frame.function)])] &+= frame.ownRunning
            longest = max(longest, frame.ownRunning)
        }
        let resolved = functions.map { names[$0] }
        func grouped(_ keys: [String]) -> FlameGroups { FlameGroups(keys, weights: weights) }
        groups = [
            .module: grouped(resolved.map(FlameGroups.module)), .kind: grouped(resolved.map(FlameGroups.kind)),
            .file: grouped(FlameGroups.files(resolved)), .namespace: grouped(resolved.map(FlameGroups.namespace)),
        ]
        colouring = options.colouring ?? FlameGraph.telling(groups)
        shades = resolved.map { FlamePalette.shade(of: $0.name) }
        // By the square root, or one long frame would leave all others pale.
        ownTimeSteps = (1...FlamePalette.stepCount).map { step in
            let part = Double(step - 1) / Double(FlamePalette.stepCount)
            return max(UInt64(part * part * Double(longest)), 1)
        }
        self.names = names
        self.timeline = timeline
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

    /// The band that a frame begins; nil of a frame that stands for calls.
    func band(of frame: Frame) -> Int? {
        guard let timeline, frame.function != FlameGraph.summed else { return nil }
        let index = Int(FlameGraph.summed - 1 - frame.function)
        return index < timeline.bands.count ? index : nil
    }

    /// The step of own time's colours that a frame has.
    func ownTimeStep(_ frame: Frame) -> Int { ownTimeSteps.count { $0 <= frame.ownRunning } }

    /// The first grouping of which no group has nearly all own time, since one colour tells nothing; else own time itself.
    private static func telling(_ groups: [Colouring: FlameGroups]) -> Colouring {
        let most = 0.75
        return [.module, .file, .namespace].first { groups[$0].map { $0.greatestPart <= most } ?? false } ?? .self
    }
}
