internal import CTraceFormat
internal import TraceText

/// One chunk of the log or of a buffer slot: a stretch of one thread's records, some of its call paths, or metadata of
/// one process.
public struct Chunk {
    public enum Kind: Sendable { case records, metadata, paths }

    public let kind: Kind
    /// Index of the process in the session.
    public let process: UInt32
    /// Serial of the thread in its process; 0 for metadata.
    public let thread: UInt32
    public let pid: UInt32
    public let tid: UInt32
    /// 0, 1, ... within (process, thread).
    public let sequence: UInt64
    public let beginTicks: UInt64
    public let beginNanoseconds: UInt64
    /// 0 while the chunk was still being written.
    public let endTicks: UInt64
    public let endNanoseconds: UInt64
    /// Ticks the runtime took between the previous chunk's end and this one's beginning.
    public let switchTicks: UInt64
    /// The part of the chunk's time in which the thread had a CPU, as ``fathom_ran(_:_:)`` says.
    let ran: UInt16
    /// For how long, in ns, the thread of an unfinished chunk had no CPU since its last record, as far as somebody has looked.
    var awayAtEnd: UInt64 { endTicks == 0 ? endNanoseconds : 0 }
    /// Whether the thread had a CPU all the time, but for less than the runtime tells of (20 µs), as far as so short a time shows.
    var hadCPU: Bool {
        guard ran > 0, endNanoseconds > beginNanoseconds else { return false }
        let passed = endNanoseconds - beginNanoseconds
        return passed < 100_000_000 && passed * UInt64(65_535 - ran) / 65_534 < 18_000
    }
    /// Calls that this chunk is the first to tell of. The number means something only once `endTicks` is set.
    public let calls: UInt64
    public let lostCalls: UInt64
    public let orphanExits: UInt64
    /// The number of calls of `lane` open at `beginTicks`, and how many of the innermost of them the payload lists.
    public let depth: UInt32
    public let pathCount: UInt32
    /// How many of the outermost of them were entered before a fork, or before recording was started.
    public let inherited: UInt32
    public let lane: UInt32
    public let functionBase: UInt32
    /// Whether enters or exits since the previous chunk left no record.
    public let hasGap: Bool
    /// Whether recording was started before the chunk. Then nothing is missing, but only the path tells what is open.
    public let restatesPath: Bool
    /// Whether recording was stopped at the chunk's end.
    public let isStopped: Bool
    public let isLast: Bool
    /// Whether what the thread did before is not kept. Then calls of other lanes may be open that nothing tells of.
    public let isCut: Bool
    /// Whether pieces of Swift's tasks begin in the chunk.
    public let hasTasks: Bool
    /// Whether the checksums hold, or held when the chunk was written.
    public let isSealed: Bool
    /// Who says that the payload is as it was written.
    private let check: Check
    /// Whether the file ends before the payload does.
    public let isTruncated: Bool
    /// Whether it was found in the log, not in a slot of the buffers.
    let isLogged: Bool
    /// The header's offset in ``file``, in bytes.
    public let offset: UInt64
    /// The part of the payload that is there.
    public let payload: UnsafeRawBufferPointer

    let payloadSum: UInt64
    let headerSum: UInt64
    private let flags: UInt8
    /// Where the header is, in whatever memory.
    let header: UnsafeRawPointer
    /// The size of the payload according to the header, in bytes.
    let claimedSize: Int

    private enum Check {
        /// Its own checksum.
        case sum
        /// Whoever unpacked it.
        case unpacked
        /// Nobody: it cannot be read.
        case none
    }

    /// Size of a chunk header, in bytes.
    public static var headerSize: Int { MemoryLayout<fathom_chunk>.size }

    /// The deepest open call path that a header may claim. Anything deeper is damage.
    static var plausibleDepth: UInt32 { FATHOM_DEPTH_LIMIT }

    /// Reads the chunk whose header is at `header`, or returns nil when the header is not plausible.
    ///
    /// - Parameters:
    ///   - available: bytes from `header` to the end of what may be read; the payload is cut there.
    ///   - used: the number of payload bytes, when that is known better than from the header.
    init?(at header: UnsafeRawPointer, available: Int, used: Int? = nil, file: String, offset: UInt64) {
        guard available >= Chunk.headerSize else { return nil }
        self.init(
            header.loadUnaligned(as: fathom_chunk.self), at: header, available: available, used: used, file: file,
            offset: offset)
    }

    /// Does the same for a header that was read already. What `header` points to is not looked at.
    init?(
        _ raw: fathom_chunk, at header: UnsafeRawPointer, available: Int, used: Int? = nil, file: String, offset: UInt64
    ) {
        guard available >= Chunk.headerSize else { return nil }
        self.init(
            raw, at: header, payload: header + Chunk.headerSize, available: available - Chunk.headerSize, used: used,
            isLogged: file == TraceLog.name, offset: offset, check: .sum)
    }

    /// The chunk of a packed log that `row` is about, or nil when that is not plausible.
    ///
    /// - Parameters:
    ///   - header: of the chunk, in memory.
    ///   - payload: where it is once it is unpacked.
    ///   - isReadable: whether it can be unpacked, as far as is known.
    init?(_ row: fathom_packed_chunk, at header: UnsafeRawPointer, payload: UnsafeRawPointer, isReadable: Bool) {
        self.init(
            row.header, at: header, payload: payload, available: Int(row.held), used: nil, isLogged: true,
            offset: row.place,
            check: !isReadable ? .none : row.kept == FATHOM_PACKED_DAMAGED ? .sum : .unpacked)
    }

    private init?(
        _ raw: fathom_chunk, at header: UnsafeRawPointer, payload start: UnsafeRawPointer, available: Int, used: Int?,
        isLogged: Bool, offset: UInt64, check: Check
    ) {
        guard raw.magic == FATHOM_CHUNK_MAGIC else { return nil }
        self.header = header
        self.check = check
        flags = raw.flags
        isSealed = UInt32(raw.flags) & FATHOM_FLAG_SEALED != 0
        if isSealed, fathom_header_sum(raw) != raw.header_sum { return nil }
        switch UInt32(raw.kind) {
        case FATHOM_CHUNK_RECORDS: kind = .records
        case FATHOM_CHUNK_METADATA: kind = .metadata
        case FATHOM_CHUNK_PATHS: kind = .paths
        default: return nil
        }
        // Metadata has no thread; the others have one.
        guard (kind == .metadata) == (raw.thread == 0) else { return nil }
        let claimed = used ?? Int(raw.used)
        claimedSize = claimed
        let pathSize = Int(raw.path_count) * PathEntry.size
        guard raw.path_count <= raw.depth, raw.depth <= Chunk.plausibleDepth, pathSize <= claimed else { return nil }
        let held = min(claimed, available)
        guard held == claimed || held >= pathSize else { return nil }
        isTruncated = held < claimed
        payload = UnsafeRawBufferPointer(start: start, count: held)
        process = raw.process
        thread = raw.thread
        pid = raw.pid
        tid = raw.tid
        sequence = raw.sequence
        beginTicks = raw.begin_ticks
        beginNanoseconds = raw.begin_ns
        endTicks = raw.end_ticks
        endNanoseconds = raw.end_ns
        switchTicks = raw.switch_ticks
        ran = raw.ran
        calls = raw.calls &+ UInt64(raw.path_calls)
        lostCalls = raw.lost_calls
        orphanExits = raw.orphan_exits
        depth = raw.depth
        pathCount = raw.path_count
        inherited = min(raw.inherited, raw.depth)
        lane = raw.lane
        functionBase = raw.function_base
        hasGap = UInt32(raw.flags) & FATHOM_FLAG_GAP != 0
        restatesPath = UInt32(raw.flags) & FATHOM_FLAG_PATH != 0
        isStopped = UInt32(raw.flags) & FATHOM_FLAG_STOPPED != 0
        isLast = UInt32(raw.flags) & FATHOM_FLAG_LAST != 0
        isCut = UInt32(raw.flags) & FATHOM_FLAG_CUT != 0
        hasTasks = UInt32(raw.flags) & FATHOM_FLAG_TASKS != 0
        payloadSum = raw.payload_sum
        headerSum = raw.header_sum
        self.isLogged = isLogged
        self.offset = offset
    }

    /// `trace` or `buffers`.
    public var file: String { isLogged ? TraceLog.name : SlotBuffers.name }

    /// The thread's name as it may be shown, or empty. It is read from the header when it is asked for, because there
    /// are many chunks.
    public var name: String {
        let name = header.loadUnaligned(as: fathom_chunk.self).name
        return withUnsafeBytes(of: name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self).visible }
    }

    /// Whether the payload is as it was when it was sealed. Chunks without a checksum count as intact.
    ///
    /// - Complexity: O(payload), at memory speed.
    var payloadIsIntact: Bool {
        switch check {
        case .unpacked: true
        case .none: false
        case .sum:
            !isSealed || isTruncated || fathom_payload_sum(flags, payload.baseAddress!, payload.count) == payloadSum
        }
    }

    /// Bytes from this header to the next in the log.
    var stride: Int { (size + 7) & ~7 }

    /// Bytes of header and payload.
    public var size: Int { Chunk.headerSize + payload.count }

    /// Entry `index` of the open call path, outermost first.
    public func path(at index: Int) -> PathEntry {
        payload.loadUnaligned(fromByteOffset: index * PathEntry.size, as: PathEntry.self)
    }

    /// The chunk's units; nil when it holds something else.
    public var pathUnits: PathUnits? { kind == .paths ? PathUnits(payload) : nil }

    /// A cursor over the chunk's records.
    public var records: RecordCursor {
        let skip = Int(pathCount) * PathEntry.size
        return RecordCursor(
            UnsafeRawBufferPointer(rebasing: payload[skip...]), ticks: beginTicks, functionBase: functionBase)
    }
}
