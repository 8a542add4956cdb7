internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Perfetto's TrackEvent protobuf (https://perfetto.dev/docs/reference/synthetic-track-event).
///
/// Times carry no clock id: any clock but the default needs a clock snapshot, without which every slice is discarded.
/// All packets belong to one sequence; without one there are no slices at all. The first packet says that its interned
/// names start anew, the others that they need the names before them; otherwise names would be empty.
struct PerfettoExporter: Exporter {
    /// `trace_processor` nests 512 slices in a track; deeper ones spoil the times of their callers.
    static let limit: ViewerLimit? = ViewerLimit(
        viewer: "Perfetto", depth: 512, calls: 4_000_000, bytes: 1_000_000_000, callBytes: 39, namesPerCall: 0)

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tracks = PerfettoTracks(writer, functions: source.functions)
        let summary = source.write(to: &tracks, limit: PerfettoExporter.limit)
        if source.session.description?.waitSources?.tellsCauses == true { tracks.show(ends: source.endedWaits) }
        PerfettoSchedule(writer, source).write()
        return summary
    }
}

private struct PerfettoTracks: TrackWriter {
    /// Field numbers of `trace_packet.proto` and the messages below it.
    private enum Field {
        enum Trace { static let packet: UInt64 = 1 }
        enum Packet {
            static let timestamp: UInt64 = 8
            static let sequence: UInt64 = 10
            static let trackEvent: UInt64 = 11
            static let internedData: UInt64 = 12
            static let sequenceFlags: UInt64 = 13
            static let trackDescriptor: UInt64 = 60
        }
        enum Descriptor {
            static let uuid: UInt64 = 1
            static let name: UInt64 = 2
            static let process: UInt64 = 3
            static let thread: UInt64 = 4
            static let parent: UInt64 = 5
            static let counter: UInt64 = 8
        }
        enum Process { static let (pid, name) = (UInt64(1), UInt64(6)) }
        enum Thread { static let (pid, tid, name) = (UInt64(1), UInt64(2), UInt64(5)) }
        enum Event {
            static let annotation: UInt64 = 4
            static let type: UInt64 = 9
            static let nameID: UInt64 = 10
            static let track: UInt64 = 11
            static let category: UInt64 = 22
            static let name: UInt64 = 23
            static let counterValue: UInt64 = 44
            static let flow: UInt64 = 47
            static let flowEnd: UInt64 = 48
        }
        enum Annotation { static let (text, name) = (UInt64(6), UInt64(10)) }
        enum Interned {
            static let eventNames: UInt64 = 2
            static let (id, name) = (UInt64(1), UInt64(2))
        }
    }

    private let writer: ByteWriter
    private let functions: FunctionTable
    /// Whether a function's name was written, by function.
    private var isNamed: [Bool] = []
    private var lastUUID: UInt64 = 0
    private var processUUIDs: [UInt32: UInt64] = [:]
    /// The tracks of counters, by process and name, because a counter belongs to the process.
    private var counterUUIDs: [UInt32: [String: UInt64]] = [:]
    private var thread: TracedThread?
    private var threadUUID: UInt64 = 0
    private var threadUUIDs: [ObjectIdentifier: UInt64] = [:]
    private var trackUUID: UInt64 = 0
    private var hasStarted = false
    // These messages are kept from packet to packet, so that their memory is used again.
    private var trace = ProtobufMessage()
    private var packet = ProtobufMessage()
    private var event = ProtobufMessage()

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
    }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) {
        if processUUIDs[track.process.index] == nil { describe(processOf: track) }
        // A thread that has calls on other lanes only needs a track, too, because theirs are below it.
        if thread !== track.thread {
            thread = track.thread
            threadUUID = describe(threadOf: track)
            threadUUIDs[ObjectIdentifier(track.thread)] = threadUUID
        }
        trackUUID = track.lane == 0 ? threadUUID : describe(laneOf: track)
    }

    mutating func enter(_ call: TreeCall) {
        event.clear()
        event.add(Field.Event.type, 1)
        event.add(Field.Event.nameID, UInt64(call.function) + 1)
        event.add(Field.Event.track, trackUUID)
        if let mark = call.mark { event.add(Field.Event.category, "\(mark)") }
        if !call.arguments.isEmpty || !call.result.isEmpty { annotate(call) }
        packet.clear()
        packet.add(Field.Packet.timestamp, call.start)
        packet.add(Field.Packet.trackEvent, event)
        name(call.function)
        write()
    }

    private mutating func annotate(_ call: TreeCall) {
        for (name, value) in call.arguments.values(by: thread?.process.argumentLayouts ?? [:]) {
            var annotation = ProtobufMessage()
            annotation.add(Field.Annotation.name, name)
            annotation.add(Field.Annotation.text, value)
            event.add(Field.Event.annotation, annotation)
        }
        guard let result = call.result.result(by: thread?.process.argumentLayouts ?? [:]) else { return }
        var annotation = ProtobufMessage()
        annotation.add(Field.Annotation.name, "returned")
        annotation.add(Field.Annotation.text, result)
        event.add(Field.Event.annotation, annotation)
    }

    mutating func leave(_ call: TreeCall) {
        event.clear()
        event.add(Field.Event.type, 2)
        event.add(Field.Event.track, trackUUID)
        packet.clear()
        packet.add(Field.Packet.timestamp, call.end)
        packet.add(Field.Packet.trackEvent, event)
        write()
    }

    mutating func show(_ mark: TreeEvent) {
        let counter = mark.value.map { _ in describe(counter: mark.name) }
        event.clear()
        event.add(Field.Event.type, counter == nil ? 3 : 4)
        event.add(Field.Event.track, counter ?? trackUUID)
        if let value = mark.value {
            event.add(Field.Event.counterValue, double: value)
        } else {
            event.add(Field.Event.category, "mark")
            event.add(Field.Event.name, mark.name)
        }
        packet.clear()
        packet.add(Field.Packet.timestamp, mark.moment)
        packet.add(Field.Packet.trackEvent, event)
        write()
    }

    mutating func endTrack() {}

    /// Shows who ended the waits of whom, as flows between two instants.
    mutating func show(ends: [EndedWait]) {
        for (index, end) in ends.enumerated() {
            guard let waker = threadUUIDs[ObjectIdentifier(end.waker)], wantsMore,
                let waiter = threadUUIDs[ObjectIdentifier(end.waiter)]
            else { continue }
            let id = Double(bitPattern: UInt64(index) + 1)
            show("ends a wait (\(end.kind))", on: waker, at: end.moment) { $0.add(Field.Event.flow, double: id) }
            show("waited (\(end.kind))", on: waiter, at: end.end) { $0.add(Field.Event.flowEnd, double: id) }
        }
    }

    private mutating func show(
        _ name: String, on track: UInt64, at moment: UInt64, _ fill: (inout ProtobufMessage) -> Void
    ) {
        event.clear()
        event.add(Field.Event.type, 3)
        event.add(Field.Event.track, track)
        event.add(Field.Event.category, "wait")
        event.add(Field.Event.name, name)
        fill(&event)
        packet.clear()
        packet.add(Field.Packet.timestamp, moment)
        packet.add(Field.Packet.trackEvent, event)
        write()
    }

    /// Adds the function's name to the packet that is the first to use it.
    private mutating func name(_ function: UInt32) {
        let index = Int(function)
        if index >= isNamed.count { isNamed += Array(repeating: false, count: index + 1 - isNamed.count) }
        guard !isNamed[index] else { return }
        isNamed[index] = true
        var entry = ProtobufMessage()
        entry.add(Field.Interned.id, UInt64(function) + 1)
        entry.add(Field.Interned.name, functions[function].name)
        var interned = ProtobufMessage()
        interned.add(Field.Interned.eventNames, entry)
        packet.add(Field.Packet.internedData, interned)
    }

    /// Writes the packet as the next one of the sequence.
    private mutating func write() {
        packet.add(Field.Packet.sequence, 1)
        packet.add(Field.Packet.sequenceFlags, hasStarted ? 2 : 1)
        hasStarted = true
        trace.clear()
        trace.add(Field.Trace.packet, packet)
        writer.write(trace.bytes)
    }

    private mutating func describe(_ fill: (inout ProtobufMessage) -> Void) -> UInt64 {
        lastUUID += 1
        var descriptor = ProtobufMessage()
        descriptor.add(Field.Descriptor.uuid, lastUUID)
        fill(&descriptor)
        packet.clear()
        packet.add(Field.Packet.trackDescriptor, descriptor)
        write()
        return lastUUID
    }

    private mutating func describe(processOf track: Track) {
        var process = ProtobufMessage()
        process.add(Field.Process.pid, UInt64(track.process.pid))
        process.add(Field.Process.name, track.process.programName)
        processUUIDs[track.process.index] = describe { $0.add(Field.Descriptor.process, process) }
    }

    private mutating func describe(counter name: String) -> UInt64 {
        guard let process = thread?.process.index, let parent = processUUIDs[process] else { return trackUUID }
        if let known = counterUUIDs[process]?[name] { return known }
        let uuid = describe {
            $0.add(Field.Descriptor.parent, parent)
            $0.add(Field.Descriptor.name, name)
            $0.add(Field.Descriptor.counter, ProtobufMessage())
        }
        counterUUIDs[process, default: [:]][name] = uuid
        return uuid
    }

    /// A task is a track of its process by its name, because no thread has its id.
    private mutating func describe(threadOf track: Track) -> UInt64 {
        if track.isTask, let parent = processUUIDs[track.process.index] {
            return describe {
                $0.add(Field.Descriptor.parent, parent)
                $0.add(Field.Descriptor.name, track.thread.name)
            }
        }
        var thread = ProtobufMessage()
        thread.add(Field.Thread.pid, UInt64(track.process.pid))
        thread.add(Field.Thread.tid, UInt64(track.thread.tid))
        if !track.thread.name.isEmpty { thread.add(Field.Thread.name, track.thread.name) }
        return describe { $0.add(Field.Descriptor.thread, thread) }
    }

    private mutating func describe(laneOf track: Track) -> UInt64 {
        let parent = threadUUID
        return describe {
            $0.add(Field.Descriptor.parent, parent)
            $0.add(Field.Descriptor.name, track.name)
        }
    }
}
