public import TraceAnalysis
public import TraceFile
public import TraceText

/// Writes call trees as one JSON document, while they are walked.
public struct TreeJSON: TreePage {
    private let json: JSONWriter
    private let functions: FunctionTable
    private let limit: Int
    private let isWatched: ((UInt32) -> Bool)?
    private let knowsRunnable: Bool
    private let memory: [MemoryColumn]
    /// What the call that is entered next did with memory, if that is known.
    private var told: MemorySums?
    private var shown = 0
    /// A document without calls is whole, too.
    public var isEmpty: Bool { false }
    private var lane: UInt32 = 0
    private var layouts: [UInt32: ArgumentLayout] = [:]
    private var rootsHidden = CallSum()

    /// - Parameters:
    ///   - limit: the number of calls to write in all.
    ///   - knowsRunnable: whether it is known when threads lost their CPUs.
    ///   - memory: what is known of what calls did with memory.
    ///   - isWatched: tells whether a function is on the watch list; nil without one.
    public init(
        _ writer: ByteWriter, functions: FunctionTable, limit: Int = .max, knowsRunnable: Bool = true,
        memory: [MemoryColumn] = [], isWatched: ((UInt32) -> Bool)? = nil
    ) {
        self.knowsRunnable = knowsRunnable
        self.memory = memory
        self.isWatched = isWatched
        json = writer.json
        self.functions = functions
        self.limit = limit
        json.beginObject()
        json.beginArray("processes")
    }

    public var wantsMore: Bool { shown < limit && !json.bytes.isClosed }

    /// Ends the document.
    public func finish() {
        json.endArray()
        json.endDocument()
    }

    public mutating func begin(_ process: TracedProcess) {
        open()
        json.field("pid", process.pid)
        json.beginArray("threads")
    }

    public mutating func endProcess() { close() }

    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        open()
        json.field("tid", thread.tid)
        if let task = thread.task { json.field("task", task) }
        json.field("name", thread.name)
        json.beginArray("roots")
        lane = 0
        layouts = thread.process.argumentLayouts
    }

    /// Closes the thread; what is hidden of its roots is told like a call's hidden callees.
    public mutating func endThread() {
        json.endArray()
        write(hidden: rootsHidden)
        json.endObject()
        rootsHidden = CallSum()
    }

    public mutating func begin(lane: UInt32) { self.lane = lane }

    public mutating func endLane(hidden: CallSum) { rootsHidden.add(hidden) }

    public mutating func tell(_ memory: MemorySums) { told = memory }

    public mutating func enter(_ call: TreeCall) {
        shown += 1
        open()
        let function = functions[call.function]
        json.field("name", function.name)
        json.fields(placeOf: function)
        json.field("start_ns", call.start)
        json.field("total_ns", call.total)
        json.field("self_ns", call.selfTime)
        if let times = call.offCPU {
            json.field("running_ns", TimeKind.running.part(of: call.total, times))
            json.field("blocked_ns", times.blocked)
            json.field("runnable_ns", knowsRunnable ? times.runnable : nil)
        }
        if let sums = told {
            for column in memory { json.field(column.key, column.value(of: sums)) }
        }
        if call.suspended > 0 { json.field("suspended_ns", call.suspended) }
        json.field("calls", call.calls)
        if call.isByTurns { json.field("by_turns", true) }
        switch call.state {
        case .complete: json.field("state", "complete" as StaticString)
        case .open: json.field("state", "open" as StaticString)
        case .unwound: json.field("state", "unwound" as StaticString)
        }
        if !call.arguments.isEmpty { json.object("args", call.arguments.values(by: layouts)) }
        if let result = call.result.result(by: layouts) { json.field("returned", result) }
        if isWatched?(call.function) == true { json.field("watched", true) }
        if call.isInherited { json.field("inherited", true) }
        if lane != 0, call.depth == 0 { json.field("lane", lane) }
        write(hidden: call.hidden)
        if call.dropped.calls > 0 {
            json.field("dropped_calls", call.dropped.calls)
            json.field("dropped_ns", call.dropped.time)
        }
        json.beginArray("children")
    }

    /// A mark stands among the calls; counters are for timelines.
    public mutating func show(_ event: TreeEvent) {
        guard event.value == nil else { return }
        shown += 1
        open()
        json.field("mark", event.name)
        json.field("start_ns", event.moment)
        if lane != 0, event.depth == 0 { json.field("lane", lane) }
        json.endObject()
    }

    public mutating func leave(_ call: TreeCall) { close() }

    private func write(hidden: CallSum) {
        guard hidden.calls > 0 else { return }
        json.field("hidden_calls", hidden.calls)
        json.field("hidden_ns", hidden.time)
    }

    private func open() {
        json.beginObject(.allButFirst)
    }

    private func close() {
        json.endArray()
        json.endObject()
    }
}
