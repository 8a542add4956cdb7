/// What is asked of a recording that is running, and how far its processes are with it.
public struct SteeringStatus: Sendable {
    /// What is asked, or what a process does.
    public struct Wish: Sendable, Equatable {
        public var records: Bool
        /// Deepest depth to record; roots are depth 0. Nil: all.
        public var maxDepth: Int?
        /// In nanoseconds.
        public var minCost: UInt64

        public init(records: Bool, maxDepth: Int?, minCost: UInt64) {
            self.records = records
            self.maxDepth = maxDepth
            self.minCost = minCost
        }
    }

    /// A process that is recorded, and is alive.
    public struct Process: Sendable {
        public var pid: Int32
        /// Nil: it cannot record any more, whatever is asked.
        public var does: Wish?
        /// The number of the last command that it has taken up; 0: of none.
        public var taken: UInt32
        /// Threads that have made a call and have not ended.
        public var threads: Int
        /// Those of them that do as the process does. The others have made no call since.
        public var currentThreads: Int

        public init(pid: Int32, does: Wish?, taken: UInt32, threads: Int, currentThreads: Int) {
            self.pid = pid
            self.does = does
            self.taken = taken
            self.threads = threads
            self.currentThreads = currentThreads
        }
    }

    public var session: String
    public var mode: RecordOptions.Mode
    /// The recorder's process; nil when it is gone.
    public var recorder: Int32?
    /// How many commands there were that processes take up.
    public var number: UInt32
    /// When the last one came, in ns of CLOCK_REALTIME; 0: there was none.
    public var askedNanoseconds: UInt64
    public var asked: Wish
    /// By process id. A process is here from its first call on.
    public var processes: [Process]
    /// Whether there may be more processes than could tell of themselves.
    public var isFull: Bool

    public init(
        session: String, mode: RecordOptions.Mode, recorder: Int32?, number: UInt32, askedNanoseconds: UInt64,
        asked: Wish, processes: [Process], isFull: Bool
    ) {
        self.session = session
        self.mode = mode
        self.recorder = recorder
        self.number = number
        self.askedNanoseconds = askedNanoseconds
        self.asked = asked
        self.processes = processes
        self.isFull = isFull
    }
}
