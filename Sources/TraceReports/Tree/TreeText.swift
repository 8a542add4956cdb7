public import TraceAnalysis
public import TraceFile
public import TraceText

/// Prints call trees as indented lines.
public struct TreeText: TreeVisitor {
    /// What a line shows besides times and name.
    public struct Options: Sendable {
        /// File and line of the definition.
        public var lines = false
        /// File and line of the call.
        public var callSites = false
        /// Lines to show in all.
        public var limit = Int.max
        /// Dim marks by terminal escapes.
        public var colour = false
        /// What hid calls, for the lines that sum them up: the filter's cost in ns and depth.
        public var minCost: UInt64 = 0
        public var maxDepth: UInt32 = .max
        /// Only so many calls are shown, the longest; nil: all that the filter leaves.
        public var longest: Int?
        /// When each call began.
        public var begins = false
        /// Calls shorter than this many ns were not recorded; 0 when unknown.
        public var recordedMinCost: UInt64 = 0

        public init() {}
    }

    private let writer: ByteWriter
    private let functions: FunctionTable
    private let options: Options
    private var space: AddressSpace?
    private var thread: TracedThread?
    private var headerIsShown = false
    private var lane: UInt32 = 0
    private var laneIsShown = true
    /// Lines written, headers and sums aside.
    public private(set) var shown = 0
    private var threadsShown = 0
    /// What is hidden of the roots of a thread that has nothing to show so far.
    private var hiddenRoots = CallSum()
    /// Threads that have nothing to show: how many, of how many processes, and what is hidden of them.
    private var quiet = (threads: UInt64(0), processes: UInt64(0), calls: CallSum())
    private var lastQuietProcess: UInt32?

    /// Deepest level that is indented; deeper lines tell by their depth column only.
    static let indentedLevels: UInt32 = 64

    public init(_ writer: ByteWriter, functions: FunctionTable, options: Options) {
        self.writer = writer
        self.functions = functions
        self.options = options
    }

    public var wantsMore: Bool { shown < options.limit && !writer.isClosed }

    public mutating func begin(_ process: TracedProcess) {}
    public mutating func endProcess() {}

    public mutating func endThread() {
        guard !headerIsShown, hiddenRoots.calls > 0, let process = thread?.process.index else { return }
        quiet.threads += 1
        quiet.processes += lastQuietProcess == process ? 0 : 1
        quiet.calls.add(hiddenRoots)
        lastQuietProcess = process
    }

    /// Sums up, in one line, the threads that have nothing to show. Of a tree that was cut short there is no such line: more
    /// threads would follow.
    public mutating func finish() {
        guard quiet.threads > 0, wantsMore else { return }
        if threadsShown > 0 { writer.write(byte: UInt8(ascii: "\n")) }
        writer.write("… " as StaticString)
        write(quiet.threads, "thread", "threads")
        writer.write(" of " as StaticString)
        write(quiet.processes, "process", "processes")
        writer.write(", " as StaticString)
        write(quiet.calls, depth: 0)
        shown += 1
    }

    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        self.thread = thread
        self.space = space
        headerIsShown = false
        hiddenRoots = CallSum()
        lane = 0
        laneIsShown = true
    }

    public mutating func begin(lane: UInt32) {
        self.lane = lane
        laneIsShown = lane == 0
    }

    public mutating func enter(_ call: TreeCall) {
        showHeader()
        let function = functions[call.function]
        columns(of: call)
        writer.write(function.name)
        if call.calls > 1 {
            writer.write(" (" as StaticString)
            writer.write(decimal: call.calls)
            writer.write(" calls)" as StaticString)
        }
        if call.suspended > 0 {
            writer.write(" (" as StaticString)
            writer.write(time: call.suspended)
            writer.write(" suspended)" as StaticString)
        }
        if call.isInherited {
            mark(" (inherited)")
        } else if call.state == .open {
            mark(" (open)")
        } else if call.state == .unwound {
            mark(" (unwound)")
        }
        if options.lines, let file = function.file { place("  ", file, function.line) }
        if options.callSites, call.callSite > 0xffff,
            let site = space?.location(at: call.callSite &- 1, ticks: call.enterTicks)
        {
            place("  called at ", site.file, site.line)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        shown += 1
    }

    /// Counters are for timelines.
    public mutating func show(_ event: TreeEvent) {
        guard event.value == nil else { return }
        showHeader()
        indent(event.depth)
        mark("-- mark: ")
        writer.write(event.name)
        writer.write(byte: UInt8(ascii: "\n"))
        shown += 1
    }

    public mutating func pause() { writer.flush() }

    public mutating func leave(_ call: TreeCall) {
        sums(hidden: call.hidden, dropped: call.dropped, depth: call.depth + 1)
    }

    public mutating func endLane(hidden: CallSum) {
        guard headerIsShown else { return hiddenRoots.add(hidden) }
        sums(hidden: hidden, dropped: CallSum(), depth: 0)
    }

    private mutating func showHeader() {
        if !headerIsShown, let thread {
            headerIsShown = true
            if threadsShown > 0 { writer.write(byte: UInt8(ascii: "\n")) }
            threadsShown += 1
            writer.write("process " as StaticString)
            writer.write(decimal: UInt64(thread.process.pid))
            writer.write(byte: UInt8(ascii: " "))
            writer.write(thread.process.label())
            if let task = thread.task {
                writer.write(" · task " as StaticString)
                writer.write(decimal: UInt64(task))
            } else {
                writer.write(" · thread " as StaticString)
                writer.write(decimal: UInt64(thread.tid))
                if thread.tid == thread.process.pid { writer.write(" main" as StaticString) }
                if !thread.name.isEmpty { writer.write(" (\(thread.name))") }
            }
            writer.write(options.begins ? "\n# depth      began" : "\n# depth" as StaticString)
            writer.write("      total       self  call\n" as StaticString)
            if hiddenRoots.calls > 0 { sums(hidden: hiddenRoots, dropped: CallSum(), depth: 0) }
        }
        if !laneIsShown {
            laneIsShown = true
            writer.write("lane " as StaticString)
            writer.write(decimal: UInt64(lane))
            writer.write(" (another stack)\n" as StaticString)
        }
    }

    private func columns(of call: TreeCall) {
        writer.write(decimal: UInt64(call.depth), width: 7)
        if options.begins { writer.write(time: call.start, width: 11) }
        writer.write(time: call.total, width: 11)
        writer.write(time: call.selfTime, width: 11)
        writer.write(spaces: 2 + 2 * Int(min(call.depth, TreeText.indentedLevels)))
    }

    /// Leaves the columns empty.
    private func indent(_ depth: UInt32) {
        writer.write(spaces: 7 + (options.begins ? 33 : 22) + 2 + 2 * Int(min(depth, TreeText.indentedLevels)))
    }

    private func mark(_ text: StaticString) {
        if options.colour { writer.write("\u{1b}[2m" as StaticString) }
        writer.write(text)
        if options.colour { writer.write("\u{1b}[0m" as StaticString) }
    }

    private func place(_ lead: StaticString, _ file: String, _ line: Int) {
        if options.colour { writer.write("\u{1b}[2m" as StaticString) }
        writer.write(lead)
        writer.write(file)
        writer.write(byte: UInt8(ascii: ":"))
        writer.write(decimal: UInt64(max(line, 0)))
        if options.colour { writer.write("\u{1b}[0m" as StaticString) }
    }

    /// The lines that sum up what is not shown below a call.
    private mutating func sums(hidden: CallSum, dropped: CallSum, depth: UInt32) {
        if hidden.calls > 0, wantsMore {
            begin(depth)
            write(hidden, depth: depth)
        }
        if dropped.calls > 0, wantsMore {
            begin(depth)
            write(dropped)
            if options.recordedMinCost > 0 {
                writer.write(" below " as StaticString)
                writer.write(limit: options.recordedMinCost)
            }
            writer.write(" (not recorded)\n" as StaticString)
        }
    }

    private mutating func begin(_ depth: UInt32) {
        showHeader()
        indent(depth)
        writer.write("… " as StaticString)
        shown += 1
    }

    private func write(_ sum: CallSum) {
        write(sum.calls, "call", "calls")
        guard sum.time > 0 else { return }
        writer.write(", " as StaticString)
        writer.write(time: sum.time)
    }

    /// Writes what is hidden at `depth`, and by what, to the line's end.
    private func write(_ hidden: CallSum, depth: UInt32) {
        write(hidden)
        if options.maxDepth != .max, depth > options.maxDepth {
            writer.write(" deeper than " as StaticString)
            writer.write(decimal: UInt64(options.maxDepth))
        } else if let longest = options.longest {
            writer.write(", not among the longest " as StaticString)
            writer.write(decimal: UInt64(longest))
        } else {
            writer.write(" below " as StaticString)
            writer.write(limit: options.minCost)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func write(_ count: UInt64, _ one: StaticString, _ many: StaticString) {
        writer.write(CountText.grouped(count))
        writer.write(byte: UInt8(ascii: " "))
        writer.write(count == 1 ? one : many)
    }
}
