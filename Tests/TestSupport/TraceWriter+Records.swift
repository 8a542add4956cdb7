internal import CTraceFormat

/// Encodes records of one chunk.
public struct RecordWriter {
    public private(set) var bytes: [UInt8] = []
    public private(set) var calls: UInt64 = 0
    /// Time of the last record, in ticks.
    public private(set) var time: UInt64
    private var base: UInt64 = 0

    public init(time: UInt64) { self.time = time }

    /// A call of `function` from `callSite`, written out in full, at `time`.
    public mutating func enter(_ function: UInt64, at time: UInt64, callSite: UInt64 = 0, sameSite: Bool = false) {
        enter(function, at: time, callSite, callSite != 0 ? FATHOM_SITE_FAR : sameSite ? FATHOM_SITE_SAME : 0)
    }

    /// A call whose site lies `offset` bytes into its caller.
    public mutating func enter(_ function: UInt64, at time: UInt64, siteOffset offset: UInt16) {
        enter(function, at: time, 0, UInt32(offset))
    }

    private mutating func enter(_ function: UInt64, at time: UInt64, _ callSite: UInt64, _ site: UInt32) {
        let delta = advance(to: time)
        var base = base
        write { fathom_put_call($0, function, callSite, site, delta, &base) }
        self.base = base
        calls += 1
    }

    public mutating func exit(at time: UInt64) {
        var delta = advance(to: time)
        write { fathom_put_exit(fathom_put_delta($0, &delta), delta) }
    }

    public mutating func unwind(_ count: UInt32, at time: UInt64) {
        moveOn(to: time)
        write { fathom_put_unwind($0, count) }
    }

    public mutating func lane(_ lane: UInt32, depth: UInt32, at time: UInt64) {
        moveOn(to: time)
        write { fathom_put_lane($0, lane, depth) }
    }

    public mutating func dropped(_ count: UInt32, ticks: UInt64) { write { fathom_put_dropped($0, count, ticks) } }

    public mutating func mark(_ name: UInt32, at time: UInt64) {
        moveOn(to: time)
        var name = name
        write { fathom_put_told($0, FATHOM_MARK, &name, 4) }
    }

    public mutating func counter(_ name: UInt32, _ value: Double, at time: UInt64) {
        moveOn(to: time)
        var count = fathom_counted(name, value.bitPattern)
        write { fathom_put_told($0, FATHOM_COUNTER, &count, 12) }
    }

    /// The next call is a piece of a Swift task; `contexts` from the one that was passed outwards, four of which are told.
    public mutating func task(
        _ task: UInt32, isResumed: Bool = false, resume: UInt16 = 0, contexts: [UInt64] = []
    ) {
        let told = contexts + [0, 0, 0, 0]
        var record = fathom_task(
            task: task, depth: UInt8(min(contexts.count, Int(FATHOM_TASK_DEPTH_LIMIT))),
            flags: isResumed ? UInt8(FATHOM_TASK_RESUMED) : 0, resume: resume,
            contexts: (told[0], told[1], told[2], told[3]))
        write { fathom_put_task($0, &record) }
    }

    /// The call that has just begun waits.
    public mutating func wait(
        _ kind: UInt32, for object: UInt64, ran: UInt32 = .max, descriptor: Int16 = -1
    ) {
        var wait = fathom_wait(kind: UInt16(kind), descriptor: descriptor, ran_ns: ran, object: object)
        write { fathom_put_told($0, FATHOM_WAIT, &wait, 16) }
    }

    /// The thread is about to end a wait.
    ///
    /// - Parameter held: for how long it held a lock, in ns, if that is known.
    public mutating func wake(_ kind: UInt32, for object: UInt64, at time: UInt64, held: UInt64? = nil) {
        moveOn(to: time)
        var wait = fathom_wait(
            kind: UInt16(kind), descriptor: -1, ran_ns: held.map { fathom_held($0) } ?? FATHOM_WAIT_RAN_UNKNOWN,
            object: object)
        write { fathom_put_told($0, FATHOM_WAKE, &wait, 16) }
    }

    /// The innermost open call did something with memory: one of the records of memory.
    public mutating func memory(_ record: UInt32, _ address: UInt64, _ size: UInt64, at time: UInt64) {
        moveOn(to: time)
        var block = fathom_block(address: address, size: size)
        write { fathom_put_told($0, record, &block, 16) }
    }

    /// Raw bytes, for what no runtime writes.
    public mutating func raw(_ raw: [UInt8]) { bytes.append(contentsOf: raw) }

    /// Moves the time on by a record of its own.
    private mutating func moveOn(to time: UInt64) {
        let delta = advance(to: time)
        if delta > 0 { write { fathom_put_time($0, delta) } }
    }

    /// Moves the time on; the ticks since the last record.
    private mutating func advance(to time: UInt64) -> UInt64 {
        guard time > self.time else { return 0 }
        defer { self.time = time }
        return time - self.time
    }

    /// Appends what `encode` lays at the place it is given; it answers with the place behind.
    private mutating func write(_ encode: (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer) {
        withUnsafeTemporaryAllocation(byteCount: Int(FATHOM_RECORD_LIMIT), alignment: 1) { room in
            let start = room.baseAddress!
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: encode(start) - start))
        }
    }
}
