/// What to run and what to keep of it.
public struct RecordingOptions: Sendable {
    /// The program's path and its arguments as given, the program's name first.
    public var executable: String
    public var arguments: [String]
    /// The session directory to create.
    public var session: String
    /// Deepest depth to record; roots are depth 0. Nil: all.
    public var maxDepth: Int?
    /// Calls shorter than this that call nothing kept leave no record, in nanoseconds.
    public var minCost: UInt64
    /// Recording stops when the trace reaches this many bytes. Nil: never.
    public var maxSize: UInt64?
    /// Size of one buffer in bytes, a power of two.
    public var bufferSize: Int
    /// Run the program again without the runtime, to know what recording cost.
    public var measuresBaseline: Bool
    /// The program's address sanitizer is told to run behind a preloaded library.
    public var relaxesAddressSanitizer = false
    /// Whether a program has hooks: of those that were started and not recorded only such count.
    public var hasHooks: @Sendable (_ path: String) -> Bool = { _ in true }
    /// Programs start without recording, until they start it themselves.
    public var startsPaused: Bool

    public static let bufferSizes = 16 * 1024...4 * 1024 * 1024
    public static let defaultBufferSize = 64 * 1024

    public init(
        executable: String, arguments: [String], session: String, maxDepth: Int? = nil, minCost: UInt64 = 0,
        maxSize: UInt64? = nil, bufferSize: Int = RecordingOptions.defaultBufferSize,
        measuresBaseline: Bool = false, startsPaused: Bool = false
    ) {
        self.executable = executable
        self.arguments = arguments
        self.session = session
        self.maxDepth = maxDepth
        self.minCost = minCost
        self.maxSize = maxSize
        self.bufferSize = bufferSize
        self.measuresBaseline = measuresBaseline
        self.startsPaused = startsPaused
    }
}

/// How the program ended.
public enum TargetStatus: Sendable, Equatable {
    case exited(Int32)
    case signaled(Int32)

    /// From a status as wait(2) gives it.
    init(_ status: Int32) {
        self = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signaled(status & 0x7f)
    }
}

/// What was recorded, and what was not.
public struct RecordingSummary: Sendable {
    public var status: TargetStatus
    /// The session directory as it was asked for.
    public var session: String
    public var processes = 0
    public var threads = 0
    public var calls: UInt64 = 0
    /// Programs with hooks that were started and not recorded.
    public var missedProcesses = 0
    /// Of the trace, in bytes.
    public var bytes: UInt64 = 0
    /// Processes go on recording into the session after the program has ended.
    public var isContinued = false
    /// Who goes on recording them in the background; nil when nobody does.
    public var backgroundRecorder: Int32?
    /// Those of them that have made calls.
    public var stillRunning: [Int32] = []
    /// Calls of finished chunks that could not be written, and why.
    public var unwrittenCalls: UInt64 = 0
    public var writeError: String?
    /// Calls that found no buffer: the file system was full, or the size cap was reached.
    public var lostCalls: UInt64 = 0
    public var isCapped = false
    /// Chunks that the program had written over in memory.
    public var spoiledChunks: UInt64 = 0
    /// It had written over what counts lost calls, too: there may be more.
    public var isSpoiled = false
    /// What the program took without the runtime, if that was asked for; or why it is not known.
    public var baseline: BaselineSummary?
    public var baselineProblem: String?
    /// Calls that the options left out.
    public var leftOutCalls: UInt64 = 0
}
