public import TraceAnalysis
public import TraceFile

/// Collects the calls of one thread's own stack for a flame chart. The thread's other lanes run at times of their own.
public struct FlameChart: TreeVisitor {
    /// How the call tree is to be walked: every call by itself.
    public static var layout: TreeLayout {
        var layout = TreeLayout()
        layout.folds = false
        return layout
    }

    private var frames: [FlameGraph.Frame] = []
    private var isOwnStack = true

    public init() {}

    /// The chart, from the first call's start to the last one's end.
    public func graph(names: FunctionTable, options: FlameGraph.Options) -> FlameGraph {
        // Not the first frame's: in a damaged recording, time may go back.
        let origin = frames.lazy.map(\.start).min() ?? 0
        var moved = frames
        var total: UInt64 = 0
        for index in moved.indices {
            moved[index].start -= origin
            total = max(total, moved[index].start &+ moved[index].total)
        }
        return FlameGraph(moved, total: total, isTimeOrder: true, names: names, options: options)
    }

    public var wantsMore: Bool { true }
    public mutating func begin(_ process: TracedProcess) {}
    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    public mutating func begin(lane: UInt32) { isOwnStack = lane == 0 }

    public mutating func enter(_ call: TreeCall) {
        guard isOwnStack else { return }
        frames.append(
            FlameGraph.Frame(
                function: call.function, depth: call.depth, calls: call.calls, start: call.start, total: call.total,
                selfTime: call.selfTime))
    }

    public mutating func leave(_ call: TreeCall) {}
    public mutating func endLane(hidden: CallSum) {}
    public mutating func endThread() {}
    public mutating func endProcess() {}
}
