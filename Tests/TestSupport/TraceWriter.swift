internal import CTraceFormat
internal import Glibc

/// Writes sessions as the format header defines them, for tests.
public final class TraceWriter {
    /// Fields of a chunk header that a test sets; the rest is filled in.
    public struct ChunkOptions {
        public var process: UInt32 = 0
        public var thread: UInt32 = 1
        public var pid: UInt32 = 1000
        public var tid: UInt32 = 1000
        public var sequence: UInt64 = 0
        public var begin: UInt64 = 0
        public var end: UInt64 = 0
        public var switchTicks: UInt64 = 0
        public var calls: UInt64 = 0
        public var lostCalls: UInt64 = 0
        public var depth: UInt32 = 0
        public var inherited: UInt32 = 0
        public var lane: UInt32 = 0
        public var isLast = false
        public var isStopped = false
        public var restatesPath = false
        public var hasTasks = false
        public var isMetadata = false
        /// The records are units of call paths.
        public var isPaths = false
        public var isSealed = true
        /// Sealed by the sums that are in use now.
        public var isHashed = true
        public var name = ""

        public init() {}
    }

    /// An entry of an open call path.
    public struct PathCall {
        public var function: UInt64
        public var callSite: UInt64
        public var enter: UInt64

        public init(function: UInt64, callSite: UInt64 = 0, enter: UInt64) {
            self.function = function
            self.callSite = callSite
            self.enter = enter
        }
    }

    /// Bytes in front of the first chunk.
    public static let headerSize = MemoryLayout<fathom_trace_header>.size

    /// The log so far.
    public private(set) var log: [UInt8]

    /// A log that begins at tick 0, of ticks that are ns unless `ticksPerSecond` says otherwise.
    public init(ticksPerSecond: UInt64? = nil, start: UInt64 = 0) {
        var header = fathom_trace_header(
            magic: FATHOM_TRACE_MAGIC, version: FATHOM_FORMAT_VERSION,
            header_size: UInt32(MemoryLayout<fathom_trace_header>.size),
            chunk_header_size: UInt32(MemoryLayout<fathom_chunk>.size),
            clock: UInt8(ticksPerSecond == nil ? FATHOM_CLOCK_MONOTONIC : FATHOM_CLOCK_COUNTER),
            reserved: (0, 0, 0), start_ticks: start, start_ns: start, ticks_per_second: ticksPerSecond ?? 1_000_000_000,
            start_realtime_ns: 0, unplaced_calls: 0, unwritten_calls: 0, left_out_calls: 0, write_errno: 0,
            is_complete: 0, log_size: 0, spoiled_chunks: 0, is_spoiled: 0, start_sum: 0, end_sum: 0)
        header.start_sum = fathom_start_sum(header)
        header.end_sum = fathom_end_sum(header)
        log = withUnsafeBytes(of: header) { Array($0) }
    }

    /// A chunk as it stands in the log.
    public static func chunk(_ options: ChunkOptions, path: [PathCall] = [], records: [UInt8]) -> [UInt8] {
        var payload: [UInt8] = []
        for call in path {
            for word in [call.function, call.callSite, call.enter] { payload.append(word: word) }
        }
        payload.append(contentsOf: records)
        var header = fathom_chunk()
        header.magic = FATHOM_CHUNK_MAGIC
        header.kind = UInt8(
            options.isMetadata
                ? FATHOM_CHUNK_METADATA : options.isPaths ? FATHOM_CHUNK_PATHS : FATHOM_CHUNK_RECORDS)
        header.flags = UInt8(
            (options.isSealed ? FATHOM_FLAG_SEALED : 0) | (options.isHashed ? FATHOM_FLAG_HASHED : 0)
                | (options.isLast ? FATHOM_FLAG_LAST : 0)
                | (options.hasTasks ? FATHOM_FLAG_TASKS : 0) | (options.isStopped ? FATHOM_FLAG_STOPPED : 0)
                | (options.restatesPath ? FATHOM_FLAG_PATH : 0))
        header.process = options.process
        header.thread = options.isMetadata ? 0 : options.thread
        header.pid = options.pid
        header.tid = options.tid
        header.sequence = options.sequence
        header.begin_ticks = options.begin
        header.begin_ns = options.begin
        header.end_ticks = options.end
        header.end_ns = options.end
        header.switch_ticks = options.switchTicks
        header.calls = options.calls
        header.lost_calls = options.lostCalls
        header.depth = max(options.depth, UInt32(path.count))
        header.path_count = UInt32(path.count)
        header.inherited = options.inherited
        header.lane = options.lane
        header.used = UInt32(payload.count)
        header.capacity = UInt32(max(payload.count, 4096))
        withUnsafeMutableBytes(of: &header.name) { $0.copyBytes(from: options.name.utf8.prefix(15)) }
        header.payload_sum = payload.withUnsafeBytes {
            fathom_payload_sum(header.flags, $0.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, $0.count)
        }
        header.header_sum = fathom_header_sum(header)
        var bytes = withUnsafeBytes(of: header) { Array($0) }
        bytes.append(contentsOf: payload)
        while bytes.count % 8 != 0 { bytes.append(0) }
        return bytes
    }

    /// Whether the description says that waits were recorded.
    public var tellsWaits = false

    /// Appends a chunk to the log.
    public func add(_ options: ChunkOptions, path: [PathCall] = [], records: [UInt8]) {
        log.append(contentsOf: TraceWriter.chunk(options, path: path, records: records))
    }

    /// Writes the session directory: the log, the buffers if there are any, and a description.
    public func write(to directory: String, buffers: [UInt8]? = nil) throws(TestSupportError) {
        mkdir(directory, 0o755)
        try writeFile(log, to: directory + "/trace")
        if let buffers { try writeFile(buffers, to: directory + "/buffers") }
        let waits = tellsWaits ? #","blocked":{"context_switches":false,"refused":null,"processors":2}"# : ""
        let description = """
            {"format":1,"fathom":"0.1.0","command":["./program","one","two \\"three\\""],"directory":"/tmp",
             "host":"box","kernel":"6.1","cpu":"fast","start_realtime_ns":1700000000000000000,
             "options":{"max_depth":null,"min_cost_ns":0}\(waits)}
            """
        try writeFile(Array(description.utf8), to: directory + "/session.json")
    }

    /// A buffers file whose slots hold these chunks, each with its owner's state.
    ///
    /// - Parameters:
    ///   - recorder: the process that says it is at work; 0: none.
    ///   - ringTicks: how long a ring keeps chunks, in ticks; nil: they make no ring.
    public static func buffers(
        slots: [[UInt8]], slotSize: Int = 8192, recorder: Int32 = 0, ringTicks: UInt64? = nil
    ) -> [UInt8] {
        let headSize = MemoryLayout<fathom_buffers>.size
        var header = fathom_buffers()
        header.magic = FATHOM_BUFFERS_MAGIC
        header.version = FATHOM_BUFFERS_VERSION
        header.header_size = UInt32(headSize)
        header.chunk_header_size = UInt32(MemoryLayout<fathom_chunk>.size)
        header.slot_size = UInt32(slotSize)
        header.slot_limit = UInt32(slots.count)
        header.slot_high = UInt32(slots.count)
        header.words_offset = UInt32(headSize)
        header.slots_offset = 4096
        header.clock = UInt8(FATHOM_CLOCK_MONOTONIC)
        header.ticks_per_second = 1_000_000_000
        header.recorder_pid = UInt32(recorder)
        header.ring_slots = ringTicks == nil ? 0 : UInt32(slots.count)
        header.ring_ticks = ringTicks ?? .max
        var bytes = withUnsafeBytes(of: header) { Array($0) }
        for _ in slots { bytes.append(contentsOf: [UInt8(FATHOM_SLOT_OWNED), 0, 0, 0]) }
        bytes.append(contentsOf: [UInt8](repeating: 0, count: 4096 - bytes.count))
        for slot in slots { bytes.append(contentsOf: slot + [UInt8](repeating: 0, count: slotSize - slot.count)) }
        return bytes
    }
}

extension [UInt8] {
    /// Appends `word`, little-endian.
    mutating func append(word: UInt64) {
        Swift.withUnsafeBytes(of: word.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(half: UInt32) {
        Swift.withUnsafeBytes(of: half.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(unit: UInt32) {
        append(UInt8(truncatingIfNeeded: unit))
        append(UInt8(truncatingIfNeeded: unit >> 8))
    }
}
