internal import CTraceFormat
internal import Glibc
public import TraceFile
internal import TraceSystem

/// Writes samples of a process's stacks as a session that the readers of profiles read.
public struct SampledSession {
    private var clock = SessionClock()

    /// Sampling begins.
    public init() {}

    /// - Parameters:
    ///   - process: what was sampled until now.
    ///   - name: the session's directory, which is made. An older session there moves aside.
    /// - Returns: The size of the log in bytes, and where that older session is now.
    public mutating func write(
        _ process: SampledProcess, into name: String
    ) throws(RecordingError) -> (bytes: UInt64, setAside: String?) {
        clock.calibrate()
        let start = clock.start.ticks, end = clock.now
        do throws(SessionFileError) {
            let directory = try SessionDirectory(creating: name)
            let description = SessionDescription(of: process, startRealtime: clock.startRealtime)
            try directory.create(SessionFile.description.name, holding: description.json)
            let log = try TraceLogWriter(
                in: directory, clock: clock, startRealtime: clock.startRealtime, version: RecordOptions().formatVersion)
            let chunks = SampleChunks(log, from: start, to: end)
            chunks.append(metadata: Self.metadata(of: process, start, end), pid: UInt32(bitPattern: process.pid))
            for (index, thread) in process.threads.enumerated() {
                let tree = SampleChunks.Tree(
                    process: 0, thread: UInt32(index + 1), pid: UInt32(bitPattern: process.pid), tid: thread.tid,
                    name: thread.name)
                chunks.append(thread.paths, to: tree, period: process.period) { path in
                    clock.ticks(nanoseconds: path.samples * process.period)
                }
            }
            log.complete(
                RecordingLosses(
                    unplacedCalls: 0, unwrittenCalls: 0, leftOutCalls: 0, spoiledChunks: 0, isSpoiled: false))
            directory.close()
            return (log.bytes, directory.setAside)
        } catch {
            throw .files(error)
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
        for (index, name) in process.names.enumerated() {
            let text = Array(name.utf8.prefix(Int(FATHOM_NAME_LIMIT)))
            var item = fathom_name_item()
            (item.id, item.kind, item.text_size) = (UInt32(index + 1), FATHOM_NAME_SCOPE, UInt32(text.count))
            add(FATHOM_ITEM_NAME, &item, \.item, text, to: &bytes)
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
