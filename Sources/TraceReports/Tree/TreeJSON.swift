public import TraceAnalysis
public import TraceFile
public import TraceText

/// Writes call trees as one JSON document, while they are walked.
public struct TreeJSON: TreeVisitor {
    private let writer: ByteWriter
    private let functions: FunctionTable
    private let limit: Int
    private let isWatched: ((UInt32) -> Bool)?
    private let knowsRunnable: Bool
    private let memory: [MemoryColumn]
    /// What the call that is entered next did with memory, if that is known.
    private var told: MemorySums?
    private var shown = 0
    private var lane: UInt32 = 0
    private var layouts: [UInt32: ArgumentLayout] = [:]
    private var rootsHidden = CallSum()
    /// Whether an element of the innermost open list was written.
    private var needsComma = false

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
        self.writer = writer
        self.functions = functions
        self.limit = limit
        writer.write("{\"processes\":[" as StaticString)
    }

    public var wantsMore: Bool { shown < limit && !writer.isClosed }

    /// Ends the document.
    public func finish() { writer.write("]}\n" as StaticString) }

    public mutating func begin(_ process: TracedProcess) {
        separate()
        writer.write("{\"pid\":" as StaticString)
        writer.write(decimal: UInt64(process.pid))
        writer.write(",\"threads\":[" as StaticString)
        needsComma = false
    }

    public mutating func endProcess() { close() }

    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        separate()
        writer.write("{\"tid\":" as StaticString)
        writer.write(decimal: UInt64(thread.tid))
        if let task = thread.task {
            writer.write(",\"task\":" as StaticString)
            writer.write(decimal: UInt64(task))
        }
        writer.write(",\"name\":" as StaticString)
        writer.write(json: thread.name)
        writer.write(",\"roots\":[" as StaticString)
        needsComma = false
        lane = 0
        layouts = thread.process.argumentLayouts
    }

    /// Closes the thread; what is hidden of its roots is told like a call's hidden callees.
    public mutating func endThread() {
        writer.write(byte: UInt8(ascii: "]"))
        if rootsHidden.calls > 0 {
            number(",\"hidden_calls\":", rootsHidden.calls)
            number(",\"hidden_ns\":", rootsHidden.time)
        }
        writer.write(byte: UInt8(ascii: "}"))
        rootsHidden = CallSum()
        needsComma = true
    }

    public mutating func begin(lane: UInt32) { self.lane = lane }

    public mutating func endLane(hidden: CallSum) { rootsHidden.add(hidden) }

    public mutating func tell(_ memory: MemorySums) { told = memory }

    public mutating func enter(_ call: TreeCall) {
        shown += 1
        separate()
        let function = functions[call.function]
        writer.write("{\"name\":" as StaticString)
        writer.write(json: function.name)
        writer.write(jsonPlaceOf: function)
        number(",\"start_ns\":", call.start)
        number(",\"total_ns\":", call.total)
        number(",\"self_ns\":", call.selfTime)
        if let times = call.offCPU {
            number(",\"running_ns\":", TimeKind.running.part(of: call.total, times))
            number(",\"blocked_ns\":", times.blocked)
            if knowsRunnable {
                number(",\"runnable_ns\":", times.runnable)
            } else {
                writer.write(",\"runnable_ns\":null" as StaticString)
            }
        }
        if let sums = told {
            for column in memory {
                writer.write(",\"\(column.key)\":")
                writer.write(decimal: column.value(of: sums))
            }
        }
        if call.suspended > 0 { number(",\"suspended_ns\":", call.suspended) }
        number(",\"calls\":", call.calls)
        if call.isByTurns { writer.write(",\"by_turns\":true" as StaticString) }
        switch call.state {
        case .complete: writer.write(",\"state\":\"complete\"" as StaticString)
        case .open: writer.write(",\"state\":\"open\"" as StaticString)
        case .unwound: writer.write(",\"state\":\"unwound\"" as StaticString)
        }
        if !call.arguments.isEmpty {
            writer.write(",\"args\":" as StaticString)
            writer.write(jsonObject: call.arguments.values(by: layouts))
        }
        if let result = call.result.result(by: layouts) {
            writer.write(",\"returned\":" as StaticString)
            writer.write(json: result)
        }
        if isWatched?(call.function) == true { writer.write(",\"watched\":true" as StaticString) }
        if call.isInherited { writer.write(",\"inherited\":true" as StaticString) }
        if lane != 0, call.depth == 0 { number(",\"lane\":", UInt64(lane)) }
        if call.hidden.calls > 0 {
            number(",\"hidden_calls\":", call.hidden.calls)
            number(",\"hidden_ns\":", call.hidden.time)
        }
        if call.dropped.calls > 0 {
            number(",\"dropped_calls\":", call.dropped.calls)
            number(",\"dropped_ns\":", call.dropped.time)
        }
        writer.write(",\"children\":[" as StaticString)
        needsComma = false
    }

    /// A mark stands among the calls; counters are for timelines.
    public mutating func show(_ event: TreeEvent) {
        guard event.value == nil else { return }
        shown += 1
        separate()
        writer.write("{\"mark\":" as StaticString)
        writer.write(json: event.name)
        number(",\"start_ns\":", event.moment)
        if lane != 0, event.depth == 0 { number(",\"lane\":", UInt64(lane)) }
        writer.write(byte: UInt8(ascii: "}"))
        needsComma = true
    }

    public mutating func leave(_ call: TreeCall) { close() }

    private func number(_ key: StaticString, _ value: UInt64) {
        writer.write(key)
        writer.write(decimal: value)
    }

    private mutating func separate() {
        if needsComma { writer.write(",\n" as StaticString) }
    }

    private mutating func close() {
        writer.write("]}" as StaticString)
        needsComma = true
    }
}
