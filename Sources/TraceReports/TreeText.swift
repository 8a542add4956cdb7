public import TraceAnalysis
public import TraceFormat
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
    public mutating func endThread() {}

    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        self.thread = thread
        self.space = space
        headerIsShown = false
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
        columns(depth: call.depth, total: call.total, selfTime: call.selfTime)
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
        writer.write(spaces: 7 + 11 + 11 + 2 + 2 * Int(min(event.depth, TreeText.indentedLevels)))
        mark("-- mark: ")
        writer.write(event.name)
        writer.write(byte: UInt8(ascii: "\n"))
        shown += 1
    }

    public mutating func leave(_ call: TreeCall) {
        sums(hidden: call.hidden, dropped: call.dropped, depth: call.depth + 1)
    }

    public mutating func endLane(hidden: CallSum) {
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
            writer.write(thread.process.metadataIsLost ? "(metadata lost)" : thread.process.programName)
            if let task = thread.task {
                writer.write(" · task " as StaticString)
                writer.write(decimal: UInt64(task))
            } else {
                writer.write(" · thread " as StaticString)
                writer.write(decimal: UInt64(thread.tid))
                if thread.tid == thread.process.pid { writer.write(" main" as StaticString) }
                if !thread.name.isEmpty { writer.write(" (\(thread.name))") }
            }
            writer.write("\n# depth      total       self  call\n" as StaticString)
        }
        if !laneIsShown {
            laneIsShown = true
            writer.write("lane " as StaticString)
            writer.write(decimal: UInt64(lane))
            writer.write(" (another stack)\n" as StaticString)
        }
    }

    private func columns(depth: UInt32, total: UInt64, selfTime: UInt64) {
        writer.write(decimal: UInt64(depth), width: 7)
        writer.write(time: total, width: 11)
        writer.write(time: selfTime, width: 11)
        writer.write(spaces: 2 + 2 * Int(min(depth, TreeText.indentedLevels)))
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
            begin(hidden, depth)
            if options.maxDepth != .max, depth > options.maxDepth {
                writer.write(" deeper than " as StaticString)
                writer.write(decimal: UInt64(options.maxDepth))
            } else {
                writer.write(" below " as StaticString)
                writer.write(limit: options.minCost)
            }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        if dropped.calls > 0, wantsMore {
            begin(dropped, depth)
            if options.recordedMinCost > 0 {
                writer.write(" below " as StaticString)
                writer.write(limit: options.recordedMinCost)
            }
            writer.write(" (not recorded)\n" as StaticString)
        }
    }

    private mutating func begin(_ sum: CallSum, _ depth: UInt32) {
        showHeader()
        writer.write(spaces: 7 + 11 + 11 + 2 + 2 * Int(min(depth, TreeText.indentedLevels)))
        writer.write("… " as StaticString)
        writer.write(decimal: sum.calls)
        writer.write(sum.calls == 1 ? " call, " : " calls, " as StaticString)
        writer.write(time: sum.time)
        shown += 1
    }
}
