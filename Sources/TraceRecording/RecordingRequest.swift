public import TraceFile

/// What to run and what to keep of it.
public struct RecordingRequest: Sendable {
    /// The program's path and its arguments as given, the program's name first.
    public var executable: String
    public var arguments: [String]
    /// The session directory to create.
    public var session: String
    /// The process that the program is already; nil of one that is to be started.
    public var process: Int32?
    /// What of it is recorded.
    public var record: RecordOptions
    /// Whether to run the program again without the runtime, to know what recording cost.
    public var measuresBaseline: Bool
    /// When what is in the ring is saved, if that is how the program is recorded.
    public var flight = FlightPlan()
    /// Whether a program has hooks. Of the programs that were started and not recorded, only such programs count.
    public var hasHooks: @Sendable (_ path: String) -> Bool = { _ in true }
    /// Where main is, in a program whose addresses are fixed, and that cannot tell itself when it is called.
    public var mainAddress: UInt64?
    /// The functions that options name; nil when they name none.
    public var functions: Functions?

    /// Keeps the names of what was recorded in the sessions at `paths`, which are complete by then, by the files of modules that were
    /// opened meanwhile.
    public var keepNames: @Sendable (_ paths: [String], _ modules: HeldModules) -> Void = { _, _ in }

    /// Works beside the recorder while the program runs.
    public var companion: (any RecordingCompanion)?

    public struct Functions: Sendable {
        /// Everything that is done with any of them.
        public var all: FunctionRule
        /// Levels below a hit that are recorded.
        public var levels: UInt32 = 0
        /// Bytes of an argument's text that are recorded.
        public var textLimit = FunctionOptions.defaultTextLimit
        /// How long calls have to take for each condition on arguments, in ns.
        public var conditions: [UInt64] = []
        /// Those of modules that the program is likely to map.
        public var known: [(module: ModuleFile, functions: [NamedFunction]?)]
        /// Finds those of another module; nil when its functions cannot be read.
        public var find: @Sendable (ModuleFile) -> [NamedFunction]?

        public init(
            all: FunctionRule, known: [(module: ModuleFile, functions: [NamedFunction]?)],
            find: @escaping @Sendable (ModuleFile) -> [NamedFunction]?
        ) {
            self.all = all
            self.known = known
            self.find = find
        }
    }

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

    /// What the session says of itself.
    ///
    /// - Parameter startRealtime: ns since 1970.
    func description(startRealtime: UInt64) -> SessionDescription {
        var description = SessionDescription(
            command: arguments, executable: executable, options: record, startRealtime: startRealtime)
        description.programStartNanoseconds = process.flatMap(processStart)
        return description
    }
}
