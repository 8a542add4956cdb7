internal import CTraceFormat
internal import Glibc
public import TraceFile

/// Writes samples of a process's stacks as a session that the readers of profiles read.
public struct SampledSession {
    /// Units in a chunk, at most.
    private static let unitsInChunk = 1 << 14

    private var clock = SessionClock()
    private let realtime = SessionClock.nanoseconds(CLOCK_REALTIME)

    /// Sampling begins.
    public init() {}

    /// - Parameters:
    ///   - process: what was sampled until now.
    ///   - name: the session's directory, which is made. An older session there moves aside.
    /// - Returns: The size of the log in bytes.
    public mutating func write(_ process: SampledProcess, into name: String) throws(RecordingError) -> UInt64 {
        clock.calibrate()
        let start = clock.start.ticks, end = clock.now
        do throws(SessionFileError) {
            let directory = try SessionDirectory(creating: name)
            let description = SessionDescription(of: process, startRealtime: realtime)
            try directory.create(SessionFile.description.name, holding: description.json)
            let log = try TraceLogWriter(
                in: directory, clock: clock, startRealtime: realtime, version: RecordOptions().formatVersion)
            Self.append(
                Self.metadata(of: process, start, end), kind: FATHOM_CHUNK_METADATA, process, from: start, to: end, log)
            for (index, thread) in process.threads.enumerated() {
                Self.append(thread, UInt32(index + 1), process, clock, from: start, to: end, log)
            }
            log.complete(
                RecordingLosses(
                    unplacedCalls: 0, unwrittenCalls: 0, leftOutCalls: 0, spoiledChunks: 0, isSpoiled: false))
            directory.close()
            return log.bytes
        } catch {
            throw .files(error)
        }
    }

    private static func append(
        _ payload: [UInt8], kind: UInt32, thread: UInt32 = 0, tid: UInt32 = 0, name: String = "", sequence: UInt64 = 0,
        _ process: SampledProcess, from start: UInt64, to end: UInt64, _ log: TraceLogWriter
    ) {
        var chunk = fathom_chunk(
            ofItem: UInt32(payload.count), process: 0, pid: UInt32(bitPattern: process.pid), sequence: sequence, at: end
        )
        chunk.kind = UInt8(kind)
        chunk.thread = thread
        if thread > 0 { chunk.tid = tid }
        (chunk.begin_ticks, chunk.end_ticks) = (start, end)
        withUnsafeMutableBytes(of: &chunk.name) { $0.copyBytes(from: Array(name.utf8.prefix($0.count - 1))) }
        _ = payload.withUnsafeBytes { log.append(chunk, payload: $0.baseAddress!) }
    }

    private static func append(
        _ thread: SampledProcess.Thread, _ serial: UInt32, _ process: SampledProcess, _ clock: SessionClock,
        from start: UInt64, to end: UInt64, _ log: TraceLogWriter
    ) {
        for (sequence, first) in stride(from: 0, to: thread.paths.count, by: unitsInChunk).enumerated() {
            var head = fathom_paths_head()
            head.first = UInt32(first)
            head.keeps = UInt64(FATHOM_KEEPS_SAMPLES)
            head.period_ns = process.period
            var bytes = withUnsafeBytes(of: head) { Array($0) }
            for path in thread.paths[first..<min(first + unitsInChunk, thread.paths.count)] {
                var unit = fathom_path()
                unit.unit = UInt16(FATHOM_UNIT_PATH)
                unit.path = path.caller.map { UInt32($0) } ?? FATHOM_NO_PATH
                unit.function = path.function
                unit.calls = path.samples
                unit.total = clock.ticks(nanoseconds: path.samples * process.period)
                unit.moment = end << UInt64(FATHOM_PATH_SHIFT)
                unit.first = start
                unit.shortest = .max
                withUnsafeBytes(of: unit) { bytes += Array($0) }
            }
            append(
                bytes, kind: FATHOM_CHUNK_PATHS, thread: serial, tid: thread.tid, name: thread.name,
                sequence: UInt64(sequence), process, from: start, to: end, log)
        }
    }

    // MARK: Metadata

    private static func metadata(of process: SampledProcess, _ start: UInt64, _ end: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var item = fathom_process_item()
        var command: [UInt8] = []
        for argument in process.arguments { command += Array(argument.utf8) + [0] }
        (item.pid, item.parent_process) = (UInt32(bitPattern: process.pid), FATHOM_NO_PROCESS)
        item.origin = FATHOM_ORIGIN_IMAGE
        item.start_ticks = start
        (item.path_size, item.command_size) = (UInt32(process.path.utf8.count), UInt32(command.count))
        add(FATHOM_ITEM_PROCESS, &item, \.item, Array(process.path.utf8) + command, to: &bytes)
        for module in process.modules {
            var item = fathom_module_item()
            (item.seen_ticks, item.bias, item.low, item.high) = (start, module.bias, module.low, module.high)
            (item.build_id_size, item.path_size) = (UInt32(module.buildID.count), UInt32(module.path.utf8.count))
            add(FATHOM_ITEM_MODULE, &item, \.item, module.buildID + Array(module.path.utf8), to: &bytes)
        }
        var ended = fathom_end_item(FATHOM_END_SAVED, status: 0, at: end)
        add(FATHOM_ITEM_END, &ended, \.item, [], to: &bytes)
        return bytes
    }

    /// Appends an item and what follows it, with its size and padding.
    private static func add<Item: BitwiseCopyable>(
        _ kind: UInt32, _ item: inout Item, _ header: WritableKeyPath<Item, fathom_item>, _ rest: [UInt8],
        to bytes: inout [UInt8]
    ) {
        let size = (MemoryLayout<Item>.size + rest.count + 7) & ~7
        item[keyPath: header].kind = UInt16(kind)
        item[keyPath: header].size = UInt32(size)
        let begin = bytes.count
        withUnsafeBytes(of: item) { bytes += Array($0) }
        bytes += rest
        bytes += [UInt8](repeating: 0, count: begin + size - bytes.count)
    }
}
