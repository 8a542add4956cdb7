/// What is asked of a recording that is running, and how far its processes are with it.
public struct SteeringStatus: Sendable {
    /// What is asked, or what a process does.
    public struct Wish: Sendable, Equatable {
        public var records: Bool
        /// Deepest depth to record; roots are depth 0. Nil: all.
        public var maxDepth: Int?
        /// In nanoseconds.
        public var minCost: UInt64

        init(records: Bool, maxDepth: Int?, minCost: UInt64) {
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

        /// Whether it could not read which functions were named last, and goes by those before.
        public var lacksFunctions: Bool
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
    /// The options by which functions were named last while it was recorded; empty if they name none, nil if no command did.
    public var functions: String?
    /// The processes in the order of their ids. A process is here from its first call on.
    public var processes: [Process]
    /// Whether there may be more processes than could tell of themselves.
    public var isFull: Bool
}
