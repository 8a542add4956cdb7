internal import CTraceFormat

/// What of a program is recorded. A new option is a property here and a member below, from which session.json and
/// `fathom info` have it. Where the runtime is to know it, it is also a field of `fathom_buffers` (CTraceFormat.h), which
/// `tell` sets and `session_open` (CTraceRuntime/file/session.c) reads.
public struct RecordOptions: Sendable {
    /// What is kept of the calls.
    public enum Mode: String, Sendable, CaseIterable {
        /// A record of each.
        case trace
        /// The records of the newest, in a ring of buffers.
        case flight
        /// What the calls of each path add up to.
        case profile
        /// How many calls each path has.
        case counts

        /// Whether no record of a call is kept.
        public var keepsPaths: Bool { self == .profile || self == .counts }
    }

    public var mode = Mode.trace
    /// The bytes of records that the ring holds.
    public var ringSize = RecordOptions.defaultRingSize
    /// In nanoseconds: what ended so long ago is not kept in the ring. Nil: the size alone decides.
    public var ringTime: UInt64?
    /// Call paths of all processes together that are kept. What is called below others counts with them.
    public var maxPaths = RecordOptions.defaultMaxPaths
    /// Deepest depth to record; roots are depth 0. Nil: all.
    public var maxDepth: Int?
    /// In nanoseconds: calls that are shorter than this, and call nothing that is kept, leave no record.
    public var minCost: UInt64 = 0
    /// Recording stops when the trace reaches this many bytes. Nil: never.
    public var maxSize: UInt64?
    /// Size of one buffer in bytes, a power of two.
    public var bufferSize = RecordOptions.defaultBufferSize
    /// Programs start without recording, until they start it themselves.
    public var startsPaused = false
    /// Whether it is found out when threads wait, and for what.
    public var tellsWaits = false
    /// Whether the kernel tells when threads have no CPU, so that the program need not look.
    package var knowsSwitches = false
    /// The functions that are named, in what way.
    public var functions = FunctionOptions()

    public static let bufferSizes = 16 * 1024...4 * 1024 * 1024
    public static let defaultBufferSize = 64 * 1024
    public static let ringSizes: ClosedRange<UInt64> = 1 << 20...64 << 30
    public static let defaultRingSize: UInt64 = 64 << 20
    /// The size where only a time was asked for.
    public static let largestUnaskedRing: UInt64 = 1 << 30

    public static let mostPaths = 100_000_000
    public static let defaultMaxPaths = Int(FATHOM_DEFAULT_PATHS)

    /// The largest ring that buffers of `bufferSize` bytes can make, in bytes.
    public static func largestRing(bufferSize: Int) -> UInt64 { UInt64(FATHOM_SLOT_LIMIT) * UInt64(bufferSize) }

    public init() {}

    /// The options by the names that session.json and `fathom info` give them, with their values as JSON.
    var members: [(name: String, value: String)] {
        [
            ("mode", "\"\(mode.rawValue)\""),
            ("keep_bytes", mode == .flight ? "\(ringSize)" : "null"),
            ("keep_ns", ringTime.map { "\($0)" } ?? "null"),
            ("max_paths", mode.keepsPaths ? "\(maxPaths)" : "null"),
            ("max_depth", maxDepth.map { "\($0)" } ?? "null"),
            ("min_cost_ns", "\(minCost)"),
            ("max_size_bytes", maxSize.map { "\($0)" } ?? "null"),
            ("buffer_size_bytes", "\(bufferSize)"),
            ("paused", "\(startsPaused)"),
            ("blocked", "\(tellsWaits)"),
        ] + functions.members
    }

    /// The version of the log's format that this needs.
    package var formatVersion: UInt32 {
        functions.arguments.isEmpty && !tellsWaits ? FATHOM_PLAIN_VERSION : FATHOM_FORMAT_VERSION
    }

    /// Tells the runtime, by the head of the buffers.
    func tell(_ head: inout fathom_buffers, _ clock: SessionClock) {
        head.slot_size = UInt32(bufferSize)
        // The depth of the first call that is left out, which is one more than the deepest that is kept.
        head.max_depth = maxDepth.map { UInt32(clamping: $0) }.map { $0 == .max ? $0 : $0 + 1 } ?? .max
        head.min_cost_ticks = clock.ticks(nanoseconds: minCost)
        head.paused = startsPaused ? 1 : 0
        head.ring_slots = mode == .flight ? UInt32(clamping: max(ringSize / UInt64(bufferSize), 2)) : 0
        head.ring_ticks = ringTime.map { clock.ticks(nanoseconds: $0) } ?? .max
        head.long_ticks = .max
        head.keeps = UInt8(
            mode == .profile ? FATHOM_KEEPS_TIMES : mode == .counts ? FATHOM_KEEPS_COUNTS : FATHOM_KEEPS_RECORDS)
        head.max_paths = UInt32(clamping: maxPaths)
        head.has_functions = functions.isEmpty ? 0 : 1
        head.tells_waits =
            !tellsWaits ? FATHOM_TELLS_NO_WAITS : knowsSwitches ? FATHOM_TELLS_WAITS : FATHOM_TELLS_WAIT_TIMES
    }
}
