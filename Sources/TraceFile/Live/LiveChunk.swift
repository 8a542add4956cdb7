internal import CTraceFormat
internal import TraceText

/// A chunk that a living thread writes, as a look at the shared buffers has found it.
package struct LiveChunk {
    /// Index of the process in the session, and serial number of the thread in the process.
    package let process: UInt32
    package let thread: UInt32
    /// The kernel's ids of both, as the process sees them.
    package let pid: UInt32
    package let tid: UInt32
    /// 0, 1, ... within (process, thread).
    package let sequence: UInt64
    package let beginTicks: UInt64
    /// The number of calls of `lane` open at `beginTicks`, how many of the innermost of them the payload lists, and how many
    /// of the outermost were entered before a fork, or before recording was started.
    package let depth: Int
    package let pathCount: Int
    package let inherited: Int
    package let lane: UInt32
    package let functionBase: UInt32
    /// Bytes of the payload that may be read.
    package let used: Int
    /// The same with those that the thread may yet take back.
    package let written: Int
    /// The thread's name as it may be shown, or empty.
    package let threadName: String
    /// Whether a thread keeps call paths there, and no calls.
    package let holdsPaths: Bool
    let isMetadata: Bool
    /// Whether it says where the thread's open calls are.
    let showsStack: Bool
    /// Where the chunk's slot begins in the file.
    let offset: Int

    /// Nil when that cannot be a header.
    init?(_ raw: fathom_chunk, slotSize: UInt32, offset: Int) {
        var raw = raw
        guard fathom_chunk_is_sound(&raw, raw.used, slotSize, 0, .max) != 0,
            raw.depth <= Chunk.plausibleDepth
        else { return nil }
        process = raw.process
        thread = raw.thread
        pid = raw.pid
        tid = raw.tid
        sequence = raw.sequence
        beginTicks = raw.begin_ticks
        depth = Int(raw.depth)
        pathCount = Int(raw.path_count)
        inherited = Int(raw.inherited)
        lane = raw.lane
        functionBase = raw.function_base
        used = Int(raw.used)
        written = Int(fathom_chunk_written(&raw))
        threadName = withUnsafeBytes(of: raw.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self).visible }
        holdsPaths = UInt32(raw.kind) == FATHOM_CHUNK_PATHS
        isMetadata = UInt32(raw.kind) == FATHOM_CHUNK_METADATA
        showsStack = UInt32(raw.kind) == FATHOM_CHUNK_STACK
        self.offset = offset
    }

    /// Whether both are the same chunk, at one moment or at two.
    package func isSameChunk(as other: LiveChunk) -> Bool {
        offset == other.offset && process == other.process && thread == other.thread && sequence == other.sequence
    }
}
