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
