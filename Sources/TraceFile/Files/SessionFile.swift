internal import CTraceFormat

/// The files of a session. This is the only place that has their names.
public enum SessionFile: Sendable {
    /// Chunks, as the recorder took them from the buffers.
    case trace
    /// The headers of a long log's chunks once more.
    case index
    /// The memory that traced processes write. It is gone once everything is in the log.
    case buffers
    /// What was run, where and how.
    case description
    /// Sums that a reader keeps, so that the next reader need not read everything.
    case aggregate
    /// What a reader keeps of calls, so that pictures of any stretch need not read all of it.
    case summaries
    /// What a reader keeps of chunks, so that trees that leave out most calls need not read them.
    case outlines
    /// What a reader keeps of when threads had no CPU, where only all records tell it.
    case offCPU
    /// The functions that record options name, and `functions.1` and so on, those that were named while it was recorded; there
    /// only while processes may look for them.
    case functions
    /// When threads gave up a CPU and got one again; there only where that was asked for and allowed.
    case switches
    /// When threads were woken, and by whom; there only where waits were asked for and this was allowed.
    case wakings
    /// The page faults of threads; there only where that was asked for and allowed.
    case faults
    /// What the kernel told of the program's start; there only where that was asked for.
    case startup
    /// Names and lines of what was recorded. The recorder writes them at the end or, if it was killed, the first reader.
    case names
    /// The source files of what was recorded; there only where that was asked for.
    case sources

    public var name: String {
        switch self {
        case .trace: "trace"
        case .index: "index"
        case .buffers: "buffers"
        case .description: "session.json"
        case .aggregate: "aggregate"
        case .summaries: "summaries"
        case .outlines: "outlines"
        case .offCPU: "offcpu"
        case .functions: "functions"
        case .switches: "switches"
        case .wakings: "wakings"
        case .faults: "faults"
        case .startup: "startup"
        case .names: "names"
        case .sources: "sources"
        }
    }

    /// The file that has this name. A file that is to replace another one has a longer name.
    init?(named name: String) {
        switch name {
        case SessionFile.trace.name: self = .trace
        case SessionFile.index.name: self = .index
        case SessionFile.buffers.name: self = .buffers
        case SessionFile.description.name, SessionFile.description.name + ".new": self = .description
        case SessionFile.aggregate.name: self = .aggregate
        case SessionFile.summaries.name: self = .summaries
        case SessionFile.outlines.name: self = .outlines
        case SessionFile.offCPU.name: self = .offCPU
        case SessionFile.functions.name: self = .functions
        case SessionFile.switches.name: self = .switches
        case SessionFile.wakings.name: self = .wakings
        case SessionFile.faults.name: self = .faults
        case SessionFile.startup.name: self = .startup
        case SessionFile.names.name: self = .names
        case SessionFile.sources.name: self = .sources
        case _ where name.hasPrefix(SessionFile.aggregate.name + "."): self = .aggregate
        case _ where name.hasPrefix(SessionFile.summaries.name + "."): self = .summaries
        case _ where name.hasPrefix(SessionFile.outlines.name + "."): self = .outlines
        case _ where name.hasPrefix(SessionFile.offCPU.name + "."): self = .offCPU
        case _ where name.hasPrefix(SessionFile.functions.name + "."): self = .functions
        case _ where name.hasPrefix(SessionFile.names.name + "."): self = .names
        default: return nil
        }
    }

    /// Whether a file that begins with these bytes is this file of a session.
    func isBegun(by bytes: Slice<UnsafeMutableRawBufferPointer>) -> Bool {
        switch self {
        case .trace:
            bytes.starts(with: Self.bytes(FATHOM_TRACE_MAGIC)) || bytes.starts(with: Self.bytes(FATHOM_PACKED_MAGIC))
        case .index: bytes.starts(with: Self.bytes(FATHOM_INDEX_MAGIC))
        case .buffers: bytes.starts(with: Self.bytes(FATHOM_BUFFERS_MAGIC))
        case .functions: bytes.starts(with: Self.bytes(FATHOM_FUNCTIONS_MAGIC))
        case .switches: bytes.starts(with: Self.bytes(KernelEvents.switches.magic))
        case .wakings: bytes.starts(with: Self.bytes(KernelEvents.wakings.magic))
        case .faults: bytes.starts(with: Self.bytes(KernelEvents.faults.magic))
        case .startup: bytes.starts(with: Self.bytes(FATHOM_STARTUP_MAGIC))
        case .description: bytes.starts(with: SessionDescription.start.utf8)
        case .names: bytes.starts(with: "FATHNAM".utf8)
        case .sources: bytes.starts(with: SourceArchive.magic.utf8)
        case .summaries: bytes.starts(with: "fathsum".utf8)
        case .outlines: bytes.starts(with: "fathout".utf8)
        case .offCPU: bytes.starts(with: "fathoff".utf8)
        // The file begins with the identity of its log.
        case .aggregate: bytes.indices.contains { bytes[$0...].starts(with: "FATHAGG".utf8) }
        }
    }

    private static func bytes(_ magic: UInt64) -> [UInt8] { withUnsafeBytes(of: magic.littleEndian) { Array($0) } }
}
