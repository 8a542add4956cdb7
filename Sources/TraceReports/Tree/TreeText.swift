public import TraceAnalysis
public import TraceFile
public import TraceText

/// Prints call trees as indented lines.
public struct TreeText: TreePage {
    /// What a line shows besides times and name.
    public struct Options: Sendable {
        /// File and line of the definition.
        public var lines = false
        /// File and line of the call.
        public var callSites = false
        /// Lines to show in all.
        public var limit = Int.max
        public var layout = TextLayout()
        /// What hid calls, for the lines that sum them up: the filter's cost in ns and depth.
        public var minCost: UInt64 = 0
        public var maxDepth: UInt32 = .max
        /// Only so many calls are shown, the longest; nil: all that the filter leaves.
        public var longest: Int?
        /// When each call began.
        public var begins = false
        /// The parts of times that have columns.
        public var split: [TimeKind] = []
        /// What calls did with memory that has columns.
        public var memory: [MemoryColumn] = []
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
    private var shown = 0
    public var isEmpty: Bool { shown == 0 && !writer.isClosed }
    private var threadsShown = 0
    /// What is hidden of the roots of a thread that has nothing to show so far.
    private var hiddenRoots = CallSum()
    /// Threads that have nothing to show: how many, of how many processes, and what is hidden of them.
    private var quiet = (threads: UInt64(0), processes: UInt64(0), calls: CallSum())
    private var lastQuietProcess: UInt32?
    private let isWatched: ((UInt32) -> Bool)?
    /// What the call that is entered next did with memory, if that is known.
    private var told = MemorySums()

    /// The columns of times, and of what calls did with memory, and how wide they and the one of depths are.
    private let headings: [String]
    private static let depthWidth = 7
    private static let timeWidth = 11
    /// Columns before the name of a root.
    private let nameColumn: Int
    /// Deepest level that is indented; deeper lines tell by their depth column only.
    private let indentedLevels: Int

    /// - Parameter isWatched: tells whether a function is on the watch list; nil without one. With one, names are framed as
    ///   InspectiveC frames them: `-|caller|`, `***-|watched|***`.
    public init(
        _ writer: ByteWriter, functions: FunctionTable, options: Options, isWatched: ((UInt32) -> Bool)? = nil
    ) {
        self.isWatched = isWatched
        self.writer = writer
        self.functions = functions
        var options = options
        let times = options.begins ? ["began", "total", "self"] : ["total", "self"]
        func taken(by options: Options) -> Int {
            TreeText.depthWidth + (times.count + options.split.count + options.memory.count) * TreeText.timeWidth + 2
        }
        // Names have room before what is told besides, and how often each was called, before what is told of memory.
        let most = (options.layout.width ?? .max) - TextLayout.leastName
        while taken(by: options) > most - " (1000 calls)".utf8.count, options.memory.popLast() != nil {}
        while taken(by: options) > most, options.split.popLast() != nil {}
        self.options = options
        headings = times + options.split.map { "\($0.heading)" } + options.memory.map(\.rawValue)
        nameColumn = taken(by: options)
        indentedLevels = options.layout.indentedLevels(behind: nameColumn)
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
        writer.write(in: options.layout.style(.dim)) {
            writer.write("… " as StaticString)
            write(quiet.threads, "thread", "threads")
            writer.write(" of " as StaticString)
            write(quiet.processes, "process", "processes")
            writer.write(", " as StaticString)
            write(hidden: quiet.calls, depth: 0)
        }
        endSum()
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

    public mutating func tell(_ memory: MemorySums) { told = memory }

    public mutating func enter(_ call: TreeCall) {
        showHeader()
        let function = functions[call.function]
        columns(of: call)
        let places = places(of: call, function)
        let (lead, end) = frame(of: call.function)
        let named = function.name + arguments(of: call) + result(of: call)
        var (name, place) = (named, "")
        var isTight = false
        if let width = options.layout.width {
            let frame = nameColumn + indentation(call.depth) + lead.utf8CodeUnitCount + end.utf8CodeUnitCount
            var taken = frame + columnsOfRemarks(on: call, isTight: false)
            isTight = width - taken < min(named.columns, TextLayout.leastName)
            if isTight { taken = frame + columnsOfRemarks(on: call, isTight: true) }
            let tails = [places.map(\.full).joined(), places.map(\.short).joined(), places.first?.short ?? "", ""]
            (name, place) = options.layout.fit(name, tails, behind: taken)
        } else {
            for next in places { place += next.full }
        }
        // A closure for each line takes as long as the rest of it.
        if let style = waiting(call) {
            writer.write(in: style) { write(name, lead, end) }
        } else {
            write(name, lead, end)
        }
        remarks(on: call, isTight: isTight)
        mark(place)
        writer.write(byte: UInt8(ascii: "\n"))
        shown += 1
    }

    private func write(_ name: String, _ lead: StaticString, _ end: StaticString) {
        writer.write(lead)
        writer.write(name)
        writer.write(end)
    }

    /// How a call's name stands back where its own time was mostly waiting. What its callees waited is not known, but no more than
    /// they took.
    private func waiting(_ call: TreeCall) -> TextStyle? {
        guard let offCPU = call.offCPU else { return nil }
        return options.layout.waiting(
            offCPU.without(OffCPUTimes(blocked: call.total &- call.selfTime)), in: call.selfTime)
    }

    private func arguments(of call: TreeCall) -> String {
        if call.arguments.isEmpty { return "" }
        let values = call.arguments.values(by: thread?.process.argumentLayouts ?? [:])
        return "(" + values.map { "\($0.name)=\($0.value)" }.joined(separator: ", ") + ")"
    }

    private func result(of call: TreeCall) -> String {
        if call.result.isEmpty { return "" }
        return call.result.result(by: thread?.process.argumentLayouts ?? [:]).map { " = \($0)" } ?? ""
    }

    /// What stands around a function's name.
    private func frame(of function: UInt32) -> (lead: StaticString, end: StaticString) {
        guard let isWatched else { return ("", "") }
        return isWatched(function) ? ("***-|", "|***") : ("-|", "|")
    }

    /// The most columns that ``remarks(on:isTight:)`` takes.
    private func columnsOfRemarks(on call: TreeCall, isTight: Bool) -> Int {
        (call.calls > 1 ? CountText.grouped(call.calls).utf8.count + " ( calls)".utf8.count : 0)
            + (call.isByTurns && !isTight ? ", by turns".utf8.count : 0)
            + (call.suspended > 0 ? " (999.9 ms suspended)".utf8.count : 0) + state(of: call).utf8CodeUnitCount
    }

    /// Writes how often it was called, for how long it waited, and how it ended.
    ///
    /// - Parameter isTight: whether the name needs the room of what can be left out.
    private func remarks(on call: TreeCall, isTight: Bool) {
        if call.calls > 1 {
            writer.write(" (" as StaticString)
            writer.write(grouped: call.calls)
            writer.write(call.isByTurns && !isTight ? " calls, by turns)" : " calls)" as StaticString)
        }
        if call.suspended > 0 {
            writer.write(" (" as StaticString)
            writer.write(time: call.suspended)
            writer.write(" suspended)" as StaticString)
        }
        mark(state(of: call))
    }

    private func state(of call: TreeCall) -> StaticString {
        if call.isInherited { return " (inherited)" }
        switch call.state {
        case .complete: return ""
        case .open: return " (open)"
        case .unwound: return " (unwound)"
        }
    }

    /// Where its function is defined, and where it was called: with the whole path, and with the file's name alone.
    private func places(of call: TreeCall, _ function: ResolvedFunction) -> [(full: String, short: String)] {
        guard options.lines || options.callSites else { return [] }
        var places: [(String, String)] = []
        func add(_ lead: String, _ file: String, _ line: Int) {
            let path = options.layout.path(file)
            places.append(("\(lead)\(path):\(max(line, 0))", "\(lead)\(PathText.name(path)):\(max(line, 0))"))
        }
        if options.lines, let file = function.file { add("  ", file, function.line) }
        if options.callSites, call.callSite > 0xffff,
            let site = space?.location(at: call.callSite &- 1, ticks: call.enterTicks)
        {
            add("  called at ", site.file, site.line)
        }
        return places
    }

    /// Counters are for timelines.
    public mutating func show(_ event: TreeEvent) {
        guard event.value == nil else { return }
        showHeader()
        let indentation = indent(event.depth)
        let lead: StaticString = "-- mark: "
        mark(lead)
        writer.write(options.layout.fit(event.name, behind: indentation + lead.utf8CodeUnitCount).name)
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
            writeHeading(of: thread)
            if hiddenRoots.calls > 0 { sums(hidden: hiddenRoots, dropped: CallSum(), depth: 0) }
        }
        if !laneIsShown {
            laneIsShown = true
            writer.write("lane " as StaticString)
            writer.write(decimal: UInt64(lane))
            writer.write(" (another stack)\n" as StaticString)
        }
    }

    /// Writes which thread follows, and the names of the columns.
    private func writeHeading(of thread: TracedThread) {
        var heading = "process \(thread.process.pid) \(thread.process.label()) · "
        if let task = thread.task {
            heading += "task \(task)"
        } else {
            heading += "thread \(thread.tid)" + (thread.tid == thread.process.pid ? " main" : "")
            if !thread.name.isEmpty { heading += " (\(thread.name))" }
        }
        let style = options.layout.style(.bold)
        writer.write(in: style) { writer.write(options.layout.fit(heading, behind: 0).name) }
        writer.write(byte: UInt8(ascii: "\n"))
        writer.write(in: style) {
            writer.write("# depth" as StaticString)
            for heading in headings {
                writer.write(spaces: TreeText.timeWidth - heading.utf8.count)
                writer.write(heading)
            }
            writer.write("  call" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func columns(of call: TreeCall) {
        writer.write(decimal: UInt64(call.depth), width: TreeText.depthWidth)
        if options.begins { writer.write(time: call.start, width: TreeText.timeWidth) }
        writer.write(time: call.total, width: TreeText.timeWidth)
        writer.write(time: call.selfTime, width: TreeText.timeWidth)
        for kind in options.split {
            if let times = call.offCPU {
                writer.write(time: kind.part(of: call.total, times), width: TreeText.timeWidth)
            } else {
                writer.write(spaces: TreeText.timeWidth - 1)
                writer.write(byte: UInt8(ascii: "?"))
            }
        }
        for column in options.memory {
            let value = column.value(of: told)
            if column == .bytes {
                let size = CountText.size(value, unit: "B")
                writer.write(spaces: TreeText.timeWidth - size.utf8.count)
                writer.write(size)
            } else {
                writer.write(grouped: value, width: TreeText.timeWidth)
            }
        }
        writer.write(spaces: 2 + indentation(call.depth))
    }

    /// Leaves the columns empty, and returns how many are taken.
    @discardableResult
    private func indent(_ depth: UInt32) -> Int {
        let columns = nameColumn + indentation(depth)
        writer.write(spaces: columns)
        return columns
    }

    private func indentation(_ depth: UInt32) -> Int { 2 * min(Int(depth), indentedLevels) }

    private func mark(_ text: StaticString) {
        guard text.utf8CodeUnitCount > 0 else { return }
        writer.write(in: options.layout.style(.dim)) { writer.write(text) }
    }

    private func mark(_ text: String) {
        guard !text.isEmpty else { return }
        writer.write(in: options.layout.style(.dim)) { writer.write(text) }
    }

    /// The lines that sum up what is not shown below a call.
    private mutating func sums(hidden: CallSum, dropped: CallSum, depth: UInt32) {
        if hidden.calls > 0, wantsMore {
            showHeader()
            writer.write(spaces: options.layout.sumColumn(nameColumn + indentation(depth)))
            writer.write(in: options.layout.style(.dim)) {
                writer.write("… " as StaticString)
                write(hidden: hidden, depth: depth)
            }
            endSum()
        }
        if dropped.calls > 0, wantsMore {
            showHeader()
            writer.write(spaces: options.layout.sumColumn(nameColumn + indentation(depth)))
            writer.write(in: options.layout.style(.dim)) { write(notRecorded: dropped) }
            endSum()
        }
    }

    private mutating func endSum() {
        writer.write(byte: UInt8(ascii: "\n"))
        shown += 1
    }

    private func write(notRecorded dropped: CallSum) {
        writer.write("… " as StaticString)
        write(dropped)
        if options.recordedMinCost > 0 {
            writer.write(" below " as StaticString)
            writer.write(limit: options.recordedMinCost)
        }
        writer.write(" (not recorded)" as StaticString)
    }

    private func write(_ sum: CallSum) {
        write(sum.calls, "call", "calls")
        guard sum.time > 0 else { return }
        writer.write(", " as StaticString)
        writer.write(time: sum.time)
    }

    /// Writes what is hidden at `depth`, and by what.
    private func write(hidden: CallSum, depth: UInt32) {
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
    }

    private func write(_ count: UInt64, _ one: StaticString, _ many: StaticString) {
        writer.write(CountText.grouped(count))
        writer.write(byte: UInt8(ascii: " "))
        writer.write(count == 1 ? one : many)
    }
}
