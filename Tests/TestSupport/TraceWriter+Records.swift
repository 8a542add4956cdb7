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
        let delta = advance(to: time)
        if function >> 32 != base {
            base = function >> 32
            special(FATHOM_BASE)
            bytes.append(half: UInt32(base))
        }
        if callSite != 0 {
            special(FATHOM_SITE)
            bytes.append(word: callSite)
        }
        let site: UInt64 = sameSite ? UInt64(FATHOM_SITE_SAME) : 0
        bytes.append(word: 1 | delta << 1 | site << 16 | function << 32)
        calls += 1
    }

    /// A call whose site lies `offset` bytes into its caller.
    public mutating func enter(_ function: UInt64, at time: UInt64, siteOffset offset: UInt16) {
        enter(function, at: time)
        bytes[bytes.count - 6] = UInt8(truncatingIfNeeded: offset)
        bytes[bytes.count - 5] = UInt8(truncatingIfNeeded: offset >> 8)
    }

    public mutating func exit(at time: UInt64) {
        bytes.append(unit: UInt32(advance(to: time)) << 1)
    }

    public mutating func unwind(_ count: UInt32, at time: UInt64) {
        moveOn(to: time)
        special(FATHOM_UNWIND)
        bytes.append(half: count)
    }

    public mutating func lane(_ lane: UInt32, depth: UInt32, at time: UInt64) {
        moveOn(to: time)
        special(FATHOM_LANE)
        bytes.append(half: lane)
        bytes.append(half: depth)
    }

    public mutating func dropped(_ count: UInt32, ticks: UInt64) {
        special(FATHOM_DROPPED)
        bytes.append(half: count)
        bytes.append(word: ticks)
    }

    public mutating func mark(_ name: UInt32, at time: UInt64) {
        moveOn(to: time)
        special(FATHOM_MARK)
        bytes.append(half: name)
    }

    public mutating func counter(_ name: UInt32, _ value: Double, at time: UInt64) {
        moveOn(to: time)
        special(FATHOM_COUNTER)
        bytes.append(half: name)
        bytes.append(word: value.bitPattern)
    }

    /// The next call is a piece of a Swift task; `contexts` from the one that was passed outwards, four of which are told.
    public mutating func task(
        _ task: UInt32, isResumed: Bool = false, resume: UInt16 = 0, contexts: [UInt64] = []
    ) {
        special(FATHOM_TASK)
        bytes.append(half: task)
        bytes.append(contentsOf: [UInt8(min(contexts.count, 64)), isResumed ? UInt8(FATHOM_TASK_RESUMED) : 0])
        bytes.append(unit: UInt32(resume))
        for index in 0..<4 { bytes.append(word: index < contexts.count ? contexts[index] : 0) }
    }

    /// Raw bytes, for what no runtime writes.
    public mutating func raw(_ raw: [UInt8]) { bytes.append(contentsOf: raw) }

    private mutating func special(_ value: UInt32) { bytes.append(unit: value << 1) }

    /// Moves the time on by a record of its own.
    private mutating func moveOn(to time: UInt64) {
        guard time > self.time else { return }
        let delta = time - self.time
        special(FATHOM_TIME)
        bytes.append(half: UInt32(truncatingIfNeeded: delta))
        bytes.append(unit: UInt32(truncatingIfNeeded: delta >> 32))
        self.time = time
    }

    /// The delta an enter or exit carries, after a time record when it is too long.
    private mutating func advance(to time: UInt64) -> UInt64 {
        guard time > self.time else { return 0 }
        if time - self.time >= UInt64(FATHOM_DELTA_LIMIT) {
            moveOn(to: time)
            return 0
        }
        let delta = time - self.time
        self.time = time
        return delta
    }
}
