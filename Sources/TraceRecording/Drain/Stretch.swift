internal import CTraceFormat
internal import TraceFile

/// A stretch of what processes write into buffers that they keep, recorded by one of several recorders, one after the other. By
/// itself, everything from the buffers' beginning on.
struct Stretch {
    /// Records from before are another recorder's, who did not fetch them. In ticks; 0: there was none.
    private var start: UInt64 = 0
    /// What others have told of themselves before is of this recording, even if they end during it, unless they were gone then.
    private var living = LivingProcesses()
    /// When recording was stopped: processes that have come and gone since are of no interest. In ticks.
    var end = UInt64.max
    /// Of each thread, the number of the first of its chunks that was fetched: where others are not, numbers begin with it.
    private var firstSequences: [UInt64: UInt64] = [:]

    init() {}

    /// - Parameter living: which of the processes that have told of themselves are alive.
    init(from start: UInt64, with living: LivingProcesses) {
        self.start = start
        self.living = living
    }

    /// Whether a chunk is of no use here: another recorder's, or of a process that was gone when this began.
    ///
    /// - Parameter isKnown: whether something of its process was fetched.
    func isOthers(_ header: fathom_chunk, isKnown: Bool) -> Bool {
        let isEarly = header.begin_ticks < start
        guard isEarly || header.begin_ticks > end else { return false }
        if UInt32(header.kind) != FATHOM_CHUNK_METADATA { return true }
        if isEarly { return living.knowsGone(header.pid) }
        return !isKnown && !processIsAlive(Int32(bitPattern: header.pid))
    }

    /// Numbers a chunk of records as if its thread had begun here.
    mutating func number(_ header: inout fathom_chunk) {
        guard start > 0 else { return }
        let thread = UInt64(header.process) << 32 | UInt64(header.thread)
        if firstSequences[thread] == nil { firstSequences[thread] = header.sequence }
        header.sequence &-= firstSequences[thread]!
    }
}
