public import TraceAnalysis
public import TraceFile

/// Collects the calls, marks and counters of threads for a flame chart. Every thread, each of its other stacks and every task
/// is a band of rows.
public struct FlameChart: TreeVisitor {
    /// How the call tree is to be walked: every call by itself.
    public static var layout: TreeLayout {
        var layout = TreeLayout()
        layout.folds = false
        return layout
    }

    private struct Stack {
        var track: FlameTimeline.Track
        /// The index of the frame that begins its band. Those of its calls follow.
        var header: Int
        var events: [TreeEvent] = []
        var states: [FlameTimeline.State] = []
    }

    private var stacks: [Stack] = []
    /// How many stretches without a CPU there were, and the shortest in ns that is shown; nil when all are.
    public private(set) var statesLeftOut: (of: Int, least: UInt64)?
    /// Those of all stacks, in one piece that the graph takes as it is.
    private var frames: [FlameGraph.Frame] = []
    private var thread: TracedThread?
    private var lane: UInt32 = 0
    private var hasStack = false

    /// - Parameter calls: how many there are, to make room for at once. An array that grows is in memory twice for a moment.
    public init(calls: UInt64 = 0) { frames.reserveCapacity(Int(min(calls + 2, FlameChart.mostReserved))) }

    /// Where a chart has more calls, it shows the longest: browsers do not open pages that are much larger.
    public static let mostCalls = 1_000_000

    private static let mostReserved = UInt64(mostCalls) + 1000

    /// Makes the chart, from the first moment to the last call's end. The collection is empty then.
    ///
    /// - Complexity: O(calls), and O(n log n) for marks and values of counters.
    public mutating func graph(names: FunctionTable, options: FlameGraph.Options) -> FlameGraph {
        var frames: [FlameGraph.Frame] = []
        swap(&frames, &self.frames)
        // Not the first frame's: in a damaged recording, time may go back.
        let firstMark = stacks.lazy.flatMap(\.events).map(\.moment).min() ?? .max
        var origin = frames.lazy.map(\.start).reduce(firstMark, min)
        if origin == .max { origin = 0 }
        let hasBands = stacks.count > 1 || stacks.contains { !$0.events.isEmpty || !$0.states.isEmpty }
        var total: UInt64 = 0
        for (index, stack) in stacks.enumerated() {
            var (first, last) = (UInt64.max, UInt64(0))
            for moment in stack.events.lazy.map({ $0.moment - origin }) {
                first = min(first, moment)
                last = max(last, moment)
            }
            let end = index + 1 < stacks.count ? stacks[index + 1].header : frames.count
            for frame in stack.header + 1..<end {
                frames[frame].start -= origin
                if hasBands { frames[frame].depth += 1 }
                first = min(first, frames[frame].start)
                last = max(last, frames[frame].start &+ frames[frame].total)
            }
            total = max(total, last)
            frames[stack.header].start = first
            frames[stack.header].total = last - first
        }
        if !hasBands, !frames.isEmpty { frames.removeFirst() }
        FlameGraph.divideWaits(&frames, suspended: names.suspended)
        let timeline = FlameTimeline(
            origin: origin, tracks: stacks.map(\.track), bands: hasBands ? bands(origin) : [])
        return FlameGraph(frames, total: total, timeline: timeline, names: names, options: options)
    }

    /// Orders the stacks by name, with marks where they were made, and every counter in the first band of its process.
    private func bands(_ origin: UInt64) -> [FlameTimeline.Band] {
        let hasProcesses = stacks.contains { $0.track.thread.process !== stacks[0].track.thread.process }
        var bands: [FlameTimeline.Band] = []
        /// By process: its first band, and the places of its counters there.
        var counters: [UInt32: (band: Int, places: [String: Int])] = [:]
        for stack in stacks {
            let process = stack.track.thread.process
            let program = hasProcesses ? "\(process.programName) \(process.pid) · " : ""
            var band = FlameTimeline.Band(name: program + stack.track.name)
            band.states = stack.states.filter { $0.begin >= origin }
            for index in band.states.indices {
                band.states[index].begin -= origin
                guard let moment = band.states[index].waker?.moment else { continue }
                band.states[index].waker?.moment = moment > origin ? moment - origin : 0
            }
            for event in stack.events where event.value == nil {
                band.marks.append((event.name, event.moment - origin))
            }
            if counters[process.index] == nil { counters[process.index] = (bands.count, [:]) }
            bands.append(band)
            for event in stack.events {
                guard let value = event.value, let (home, places) = counters[process.index] else { continue }
                let place = places[event.name] ?? bands[home].counters.count
                if places[event.name] == nil {
                    counters[process.index]!.places[event.name] = place
                    bands[home].counters.append(FlameTimeline.Counter(name: event.name))
                }
                bands[home].counters[place].points.append((event.moment - origin, value))
            }
        }
        for band in bands.indices {
            bands[band].marks.sort { $0.moment < $1.moment }
            for place in bands[band].counters.indices {
                bands[band].counters[place].points.sort { $0.moment < $1.moment }
            }
        }
        return bands
    }

    /// Keeps so many of the longest stretches in which threads had no CPU, since browsers do not open pages that are much larger.
    ///
    /// - Complexity: O(n log n).
    mutating func keepLongestStates(_ most: Int) {
        var lengths = stacks.flatMap { $0.states.map(\.length) }
        guard lengths.count > most else { return }
        lengths.sort(by: >)
        let least = lengths[most - 1]
        var ties = most - lengths.prefix { $0 > least }.count
        for index in stacks.indices {
            stacks[index].states.removeAll { state in
                guard state.length == least else { return state.length < least }
                ties -= 1
                return ties < 0
            }
        }
        statesLeftOut = (lengths.count, least)
    }

    /// The band of a thread's own stack; nil when it has none.
    func band(of thread: TracedThread) -> Int? {
        stacks.firstIndex {
            $0.track.lane == 0 && $0.track.thread.process === thread.process && $0.track.thread.tid == thread.tid
        }
    }

    mutating func add(to band: Int, _ states: [FlameTimeline.State]) { stacks[band].states += states }

    public var wantsMore: Bool { true }
    public mutating func begin(_ process: TracedProcess) {}

    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        self.thread = thread
        begin(lane: 0)
    }

    public mutating func begin(lane: UInt32) {
        self.lane = lane
        hasStack = false
    }

    public mutating func enter(_ call: TreeCall) {
        beginStack()
        frames.append(
            FlameGraph.Frame(
                function: call.function, depth: call.depth, calls: call.calls, start: call.start, total: call.total,
                selfTime: call.selfTime,
                waiting: max(call.offCPU.map { $0.blocked &+ $0.runnable } ?? 0, call.suspended),
                ownWaiting: call.hidden.time))  // until the graph is made
    }

    public mutating func show(_ event: TreeEvent) {
        beginStack()
        stacks[stacks.count - 1].events.append(event)
    }

    private mutating func beginStack() {
        guard !hasStack, let thread else { return }
        // The header's times follow from what comes.
        let band = FlameGraph.band(stacks.count)
        let track = FlameTimeline.Track(thread: ThreadLabel(thread), lane: lane)
        stacks.append(Stack(track: track, header: frames.count))
        frames.append(FlameGraph.Frame(function: band, depth: 0, calls: 0, start: .max, total: 0, selfTime: 0))
        hasStack = true
    }

    public mutating func leave(_ call: TreeCall) {}
    public mutating func endLane(hidden: CallSum) {}
    public mutating func endThread() {}
    public mutating func endProcess() {}
}
