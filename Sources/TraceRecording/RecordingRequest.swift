public import TraceFile

/// What to run and what to keep of it.
public struct RecordingRequest: Sendable {
    /// The program's path and its arguments as given, the program's name first.
    public var executable: String
    public var arguments: [String]
    /// The session directory to create.
    public var session: String
    /// What of it is recorded.
    public var record: RecordOptions
    /// Whether to run the program again without the runtime, to know what recording cost.
    public var measuresBaseline: Bool
    /// Whether the program's address sanitizer is told to run behind a preloaded library.
    public var relaxesAddressSanitizer = false
    /// Whether a program has hooks. Of the programs that were started and not recorded, only such programs count.
    public var hasHooks: @Sendable (_ path: String) -> Bool = { _ in true }

    public init(
        executable: String, arguments: [String], session: String, record: RecordOptions = RecordOptions(),
        measuresBaseline: Bool = false
    ) {
        self.executable = executable
        self.arguments = arguments
        self.session = session
        self.record = record
        self.measuresBaseline = measuresBaseline
    }
}
