internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Prints calls as they are replayed.
struct DumpSink: CallSink {
    struct Payload: BitwiseCopyable {
        var depth: UInt32 = 0
        var function: UInt32 = 0
    }

    private let json: JSONWriter
    private var writer: ByteWriter { json.bytes }
    private let thread: TracedThread
    private let space: AddressSpace
    private let isJSON: Bool
    private let showsChunks: Bool
    /// Whether only first calls were recorded: then no end is known, and no caller but by the call site.
    private let isFirst: Bool
    private let layout: TextLayout
    private var lane: UInt32 = 0
    /// The beginning of all lines of the current lane.
    private var prefix: [UInt8] = []
    /// Name and module of each function as they are written, by id.
    private var texts: [[UInt8]] = []

    init(
        _ writer: ByteWriter, _ thread: TracedThread, _ space: AddressSpace, isJSON: Bool, showsChunks: Bool,
        isFirst: Bool, layout: TextLayout
    ) {
        json = writer.json
        self.thread = thread
        self.space = space
        self.isJSON = isJSON
        self.showsChunks = showsChunks
        self.isFirst = isFirst
        self.layout = layout
        setPrefix()
    }

    func header() {
        guard !isJSON else { return }
        let name = thread.name.isEmpty ? "" : " (\(thread.name))"
        writer.write(in: layout.style(.bold)) {
            writer.write("process \(thread.process.pid) \(thread.process.label()) · thread \(thread.tid)\(name)")
        }
        writer.write("\n#           time  record     call\n" as StaticString)
    }

    private mutating func setPrefix() {
        prefix =
            isJSON
            ? Array(
                """
                {"process":\(thread.process.index),"pid":\(thread.process.pid),"thread":\(thread.serial),\
                "tid":\(thread.tid),"lane":\(lane)
                """.utf8)
            : []
    }

    // MARK: CallSink

    func base(ofLane lane: UInt32) -> Payload { Payload(depth: .max) }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
        call.pointee.payload = Payload(depth: (call - 1).pointee.payload.depth &+ 1, function: function)
        write(call, call.pointee.isInherited ? "inherited" : "enter", at: call.pointee.start)
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        if isFirst { return }
        switch state {
        case .complete: write(call, "exit", at: end)
        case .unwound: write(call, "unwound", at: end)
        case .open: write(call, "open", at: end)
        }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        begin("dropped", at: moment)
        number("calls", UInt64(calls))
        number("duration_ns", time)
        end()
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        switch told {
        case .mark(let name): show("mark", name, value: nil, in: call, at: moment)
        case .counter(let name, let value): show("counter", name, value: value, in: call, at: moment)
        case .arguments(let arguments): show(arguments, of: call)
        case .result(let result): show(result: result, of: call, at: moment)
        case .wait, .wake, .away, .memory: break
        }
    }

    private mutating func show(
        _ kind: StaticString, _ name: UInt32, value: Double?, in call: UnsafeMutablePointer<OpenCall<Payload>>,
        at moment: UInt64
    ) {
        begin(kind, at: moment)
        let name = space.name(name)
        if isJSON {
            json.field("name", name)
            if let value { json.field("value", value) }
        } else {
            writer.write(spaces: 4 + 2 * min(Int(call.pointee.payload.depth &+ 1), TextLayout.deepestIndented) - 2)
            writer.write(name)
            if let value { writer.write(" = \(value)") }
        }
        end()
    }

    private mutating func show(_ arguments: RecordedArguments, of call: UnsafeMutablePointer<OpenCall<Payload>>) {
        begin("args", at: call.pointee.start)
        let values = arguments.values(by: thread.process.argumentLayouts)
        if isJSON {
            json.object("args", values)
        } else {
            writer.write(spaces: 4 + 2 * min(Int(call.pointee.payload.depth), TextLayout.deepestIndented))
            writer.write(values.map { "\($0.name)=\($0.value)" }.joined(separator: ", "))
        }
        end()
    }

    private mutating func show(
        result: RecordedArguments, of call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64
    ) {
        begin("returned", at: moment)
        let value = result.result(by: thread.process.argumentLayouts) ?? "<left out>"
        if isJSON {
            json.field("returned", value)
        } else {
            writer.write(spaces: 4 + 2 * min(Int(call.pointee.payload.depth), TextLayout.deepestIndented))
            writer.write(value)
        }
        end()
    }

    mutating func begin(piece: TaskPiece, at moment: UInt64) {
        begin("task", at: moment)
        number("task", UInt64(piece.task))
        number("resumed", piece.isResumed ? 1 : 0)
        number("resume", UInt64(piece.resume))
        number("contexts", UInt64(piece.depth))
        for (name, context) in zip(["context", "caller", "caller_2", "caller_3"] as [StaticString], piece.chain) {
            number(name, context)
        }
        end()
    }

    mutating func run(lane: UInt32, at moment: UInt64) {
        self.lane = lane
        setPrefix()
        begin("lane", at: moment)
        if !isJSON { number("lane", UInt64(lane)) }
        end()
    }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        let chunk = thread.chunks[index]
        if showsChunks {
            begin("chunk", at: moment)
            number("sequence", chunk.sequence)
            number("offset", chunk.offset)
            number("bytes", UInt64(chunk.payload.count))
            number("calls", chunk.calls)
            number("depth", UInt64(chunk.depth))
            end()
        }
        if chunk.lostCalls > 0 {
            begin("lost", at: moment)
            number("calls", chunk.lostCalls)
            end()
        } else if afterGap {
            begin("lost", at: moment)
            end()
        }
    }

    func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { !writer.isClosed }

    // MARK: Lines

    private func begin(_ kind: StaticString, at time: UInt64) {
        if isJSON {
            writer.write(prefix)
            json.field("kind", kind)
            json.field("time_ns", time)
        } else {
            writer.write(decimal: time, width: 16)
            writer.write("  " as StaticString)
            writer.write(kind)
            writer.write(spaces: 9 - kind.utf8CodeUnitCount)
        }
    }

    private func number(_ name: StaticString, _ value: UInt64) {
        if isJSON { return json.field(name, value) }
        writer.write("  " as StaticString)
        writer.write(name)
        writer.write(" " as StaticString)
        writer.write(decimal: value)
    }

    private func end() {
        if isJSON { writer.write(byte: UInt8(ascii: "}")) }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private mutating func write(_ call: UnsafePointer<OpenCall<Payload>>, _ kind: StaticString, at time: UInt64) {
        begin(kind, at: time)
        if isJSON {
            json.field("depth", call.pointee.payload.depth)
            writer.write(text(call.pointee.payload.function))
            json.field("address", hexadecimal: call.pointee.function)
            json.field("call_site", hexadecimal: call.pointee.callSite)
            if let caller = caller(of: call) { json.field("caller", caller) }
            writer.write("}\n" as StaticString)
        } else {
            writer.write(spaces: 2 + 2 * min(Int(call.pointee.payload.depth), TextLayout.deepestIndented))
            writer.write(text(call.pointee.payload.function))
            if let caller = caller(of: call) { writer.write("  from \(caller)") }
            writer.write(byte: UInt8(ascii: "\n"))
        }
    }

    /// The function that a first call was made by. The call site is where the call returns to.
    private func caller(of call: UnsafePointer<OpenCall<Payload>>) -> String? {
        guard isFirst, call.pointee.callSite > 0 else { return nil }
        let id = space.function(at: call.pointee.callSite - 1, ticks: call.pointee.enterTicks)
        return space.functions[id].name
    }

    private mutating func text(_ function: UInt32) -> [UInt8] {
        while texts.count <= Int(function) { texts.append([]) }
        if texts[Int(function)].isEmpty { texts[Int(function)] = makeText(function) }
        return texts[Int(function)]
    }

    private func makeText(_ function: UInt32) -> [UInt8] {
        let resolved = space.functions[function]
        guard isJSON else { return Array(resolved.name.utf8) }
        return ByteWriter.bytes { writer in
            writer.write(byte: UInt8(ascii: ","))
            writer.json.field("function", resolved.name)
            writer.json.field("module", resolved.module)
        }
    }
}
