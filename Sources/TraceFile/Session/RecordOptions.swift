internal import CTraceFormat

/// What of a program is recorded.
///
/// A new option is a property, a name and a member here, from which session.json and `fathom info` have it, and an option of
/// `Record` in `fathom`. ``SessionDescription/option(_:)`` tells readers of it. Where the runtime is to know it, it is also a
/// field of `fathom_buffers` (CTraceFormat.h), which `tell` sets; the runtime finds it in `runtime.head`.
public struct RecordOptions: Sendable {
    /// What is kept of the calls. `fathom ctl` tells a recorder a mode by its number in this order (CTraceSteering.h).
    public enum Mode: String, Sendable, CaseIterable {
        /// A record of each.
        case trace
        /// The records of the newest, in a ring of buffers.
        case flight
        /// What the calls of each path add up to.
        case profile
        /// How many calls each path has.
        case counts
        /// In which path the recorder found a thread how often.
        case stack
        /// The moment of each function's first call, found by traps in place of hooks.
        case firstCalls = "first-calls"

        /// Whether single calls have records, which tell when they were.
        public var keepsCalls: Bool { self == .trace || self == .flight }
        /// Whether calls, or samples of them, are added up by call path, so that no call has a record of its own.
        public var keepsPaths: Bool { self == .profile || self == .counts || self == .stack }

        /// What the buffers' head says, FATHOM_KEEPS_*.
        var keeps: UInt32 {
            switch self {
            case .trace, .flight, .firstCalls: FATHOM_KEEPS_RECORDS
            case .profile: FATHOM_KEEPS_TIMES
            case .counts: FATHOM_KEEPS_COUNTS
            case .stack: FATHOM_KEEPS_SAMPLES
            }
        }
    }

    /// The names of options in session.json, which `fathom info` shows, too.
    ///
    /// A later version may write further names. ``SessionDescription/options`` has all names that are in the file;
    /// ``SessionDescription/option(_:)`` finds only those that are listed here.
    public enum Name: String, Sendable {
        case mode
        case ringSize = "keep_bytes"
        case ringTime = "keep_ns"
        case maxPaths = "max_paths"
        case interval = "interval_ns"
        case maxDepth = "max_depth"
        case minCost = "min_cost_ns"
        case maxSize = "max_size_bytes"
        case bufferSize = "buffer_size_bytes"
        case minSize = "min_size_bytes"
        case budget = "budget_percent"
        case paused, blocked, memory, faults, startup, modules, libcalls, any, syscalls

        // Of functions, by the patterns of their names.
        case filter, notrace, hide, trigger, watch, returns, when
        case callerFilter = "caller_filter"
        case places = "source"
        case arguments = "args"
        case relativeDepth = "relative_depth"
        case complete

        /// Written by `fathom sample` only: the time that a sample stands for.
        case samplePeriod = "sample_ns"

        /// The option of `fathom record`, as `--min-cost`.
        public var flag: String {
            let unit = ["_ns", "_bytes", "_percent"].first(where: rawValue.hasSuffix) ?? ""
            return "--" + rawValue.dropLast(unit.count).replacing("_", with: "-")
        }
    }

    public var mode = Mode.trace
    /// The bytes of records that the ring holds.
    public var ringSize = RecordOptions.defaultRingSize
    /// In nanoseconds: what ended so long ago is not kept in the ring. Nil: the size alone decides.
    public var ringTime: UInt64?
    /// The most call paths that are kept, of all processes together. A call without a path of its own counts with its nearest
    /// caller that has one.
    public var maxPaths = RecordOptions.defaultMaxPaths
    /// In nanoseconds: the mean time between two looks at the stacks.
    public var interval = RecordOptions.defaultInterval
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
    /// Whether sleds are open from the start although programs start paused and wait to be recorded.
    public var opensSledsEarly = false
    /// In bytes of code: smaller functions keep their sleds closed. Nil: none do.
    public var minSize: Int?
    /// In percent: how much of a thread's time calls by sleds may cost, before those of the busiest functions are closed.
    /// Nil: any.
    public var budget: Int?
    /// What is found out of the time in which threads do not run.
    public enum Waiting: Sendable {
        case unknown
        /// When threads had no CPU.
        case times
        /// That, what they waited for, and what ended that.
        case causes
    }
    public var waiting = Waiting.unknown
    /// Whether it is recorded what memory is allocated and freed.
    public var tellsMemory = false
    /// Of which names calls of functions of other modules are recorded, with `*` and `?`; nil: of none.
    public var libraryCalls: String?
    /// Who tells of the program's system calls.
    public enum SystemCallSource: String, Sendable {
        /// The kernel: of all.
        case kernel
        /// The slots by which the program calls the C library's functions that make them.
        case functions
    }
    /// Nil: nobody.
    public var systemCalls: SystemCallSource?
    /// Of which names functions without hooks get detours, with `*` and `?`; nil: none do.
    public var detours: String?
    /// Whether the kernel is asked for page faults. The program itself knows nothing of it.
    public var tellsFaults = false
    /// Whether it is found out how the program starts.
    public var tellsStartup = false
    /// Whether the log is packed while it is written.
    public var packsLog = false
    /// Whether the kernel tells when threads have no CPU, so that the program need not look.
    package var knowsSwitches = false
    /// Where first calls are recorded, or functions get detours: the modules by paths or names; none: the program and its own libraries.
    public var modules: [String] = []
    /// The functions that are named, in what way.
    public var functions = FunctionOptions()

    public static let bufferSizes = 16 * 1024...4 * 1024 * 1024
    public static let defaultBufferSize = 64 * 1024
    public static let ringSizes: ClosedRange<UInt64> = 1 << 20...64 << 30
    public static let defaultRingSize: UInt64 = 64 << 20
    /// The size where only a time was asked for.
    public static let largestUnaskedRing: UInt64 = 1 << 30

    /// Bytes of ``libraryCalls``, at most.
    public static let longestLibraryPattern = Int(FATHOM_LIBRARY_PATTERN) - 2

    public static let mostPaths = 100_000_000
    public static let defaultMaxPaths = Int(FATHOM_DEFAULT_PATHS)

    public static let intervals: ClosedRange<UInt64> = 100_000...1_000_000_000
    public static let defaultInterval: UInt64 = 1_000_000

    /// The largest ring that buffers of `bufferSize` bytes can make, in bytes.
    public static func largestRing(bufferSize: Int) -> UInt64 { UInt64(FATHOM_SLOT_LIMIT) * UInt64(bufferSize) }

    public init() {}

    /// The options by the names that session.json and `fathom info` give them, with their values as JSON.
    var members: [(name: Name, value: String)] {
        var members: [(name: Name, value: String)] = [
            (.mode, "\"\(mode.rawValue)\""),
            (.ringSize, mode == .flight ? "\(ringSize)" : "null"),
            (.ringTime, ringTime.map { "\($0)" } ?? "null"),
            (.maxPaths, mode.keepsPaths ? "\(maxPaths)" : "null"),
            (.interval, mode == .stack ? "\(interval)" : "null"),
            (.maxDepth, maxDepth.map { "\($0)" } ?? "null"),
            (.minCost, "\(minCost)"),
            (.maxSize, maxSize.map { "\($0)" } ?? "null"),
            (.bufferSize, "\(bufferSize)"),
            (.minSize, minSize.map { "\($0)" } ?? "null"),
            (.budget, budget.map { "\($0)" } ?? "null"),
            (.paused, "\(startsPaused)"),
            (.blocked, "\(waiting == .causes)"),
        ]
        if tellsMemory { members.append((.memory, "true")) }
        if let libraryCalls { members.append((.libcalls, SessionDescription.quoted(libraryCalls))) }
        if let systemCalls { members.append((.syscalls, "\"\(systemCalls.rawValue)\"")) }
        if let detours { members.append((.any, SessionDescription.quoted(detours))) }
        if tellsFaults { members.append((.faults, "true")) }
        if tellsStartup { members.append((.startup, "true")) }
        if !modules.isEmpty {
            let names = modules.map { SessionDescription.quoted($0) }.joined(separator: ", ")
            members.append((.modules, "[\(names)]"))
        }
        return members + functions.members
    }

    /// Whether there is something to record of programs without hooks.
    public var needsNoHooks: Bool { libraryCalls != nil || detours != nil || systemCalls != nil }

    /// The version of the log's format that this needs.
    package var formatVersion: UInt32 {
        let needsNew =
            !functions.arguments.isEmpty || !functions.conditions.isEmpty || !functions.results.isEmpty
            || waiting != .unknown || tellsMemory || systemCalls != nil
        return needsNew ? FATHOM_FORMAT_VERSION : FATHOM_PLAIN_VERSION
    }

    /// Tells the runtime, by the head of the buffers.
    func tell(_ head: inout fathom_buffers, _ clock: SessionClock) {
        head.slot_size = UInt32(bufferSize)
        // The depth of the first call that is left out, which is one more than the deepest that is kept.
        head.max_depth = maxDepth.map { UInt32(clamping: $0) }.map { $0 == .max ? $0 : $0 + 1 } ?? .max
        head.min_cost_ticks = clock.ticks(nanoseconds: minCost)
        head.paused = startsPaused ? (opensSledsEarly ? UInt8(FATHOM_PAUSED_OPEN) : 1) : 0
        head.ring_slots = mode == .flight ? UInt32(clamping: max(ringSize / UInt64(bufferSize), 2)) : 0
        head.ring_ticks = ringTime.map { clock.ticks(nanoseconds: $0) } ?? .max
        head.long_ticks = .max
        head.keeps = UInt8(mode.keeps)
        head.max_paths = UInt32(clamping: maxPaths)
        head.has_functions = functions.isEmpty && mode != .firstCalls && detours == nil ? 0 : 1
        var tells: UInt32 = 0
        if waiting == .causes { tells |= FATHOM_TELLS_WAITS }
        if waiting != .unknown {
            tells |= knowsSwitches ? FATHOM_TELLS_RUNNING : FATHOM_TELLS_RUNNING | FATHOM_TELLS_AWAY
        }
        if tellsStartup { tells |= FATHOM_TELLS_STARTUP }
        if tellsMemory { tells |= FATHOM_TELLS_MEMORY }
        if systemCalls == .kernel { tells |= FATHOM_TELLS_PROCESSES }
        if libraryCalls != nil || systemCalls == .functions {
            tells |= FATHOM_TELLS_LIBRARY_CALLS
            let pattern = (systemCalls == .functions ? "@" : "") + (libraryCalls ?? "")
            withUnsafeMutableBytes(of: &head.library_calls) { $0.copyBytes(from: pattern.utf8.prefix($0.count - 1)) }
        }
        head.tells = UInt8(tells)
        head.min_size = UInt16(clamping: minSize ?? 0)
        head.budget = UInt8(clamping: budget ?? 0)
    }
}
