/// What was found out about a program that did not get on.
public struct Hang: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A call took longer than the limit.
        case hang
        /// The same, before the program said that it had started.
        case launch
        /// Threads wait for each other in a circle.
        case deadlock
        /// The process used the processors for long.
        case cpu
        /// A call took longer than the limit in a process of so many threads that their paths were not taken.
        case threads
        /// Every thread that runs Swift's tasks was taken up by one for longer than the limit.
        case pool
        /// The process was killed in a hang.
        case killed
    }

    /// What one thread did.
    public struct Thread: Sendable, Equatable {
        public var tid: UInt32
        public var name: String
        /// The open calls, outermost first; none of a thread that has made no call with hooks.
        public var path: [HangFrame] = []
        /// What it waited for, in words; nil when it ran.
        public var waitsFor: String?
        /// The kind of wait, as `mutex` or `read`; nil when it ran.
        public var wait: String?
        /// The thread that had what it waited for, where that is known.
        public var owner: UInt32?
        /// Functions of libraries without hooks that it was in, innermost first, as far as they could be told.
        public var libraryCalls: [String] = []
        /// Processor time that it took lately, in percent of a core.
        public var cpuPercent: Double = 0

        public init(tid: UInt32, name: String) {
            self.tid = tid
            self.name = name
        }
    }

    public var kind: Kind
    public var program: String
    public var pid: UInt32
    /// The thread that did not get on.
    public var thread: UInt32
    public var threadName: String
    /// When it began, in ns of CLOCK_REALTIME.
    public var startRealtime: UInt64
    /// How long it had lasted when this was written last, without time in which the process was stopped or suspended.
    public var duration: UInt64
    /// Whether it is over.
    public var hasEnded = false
    /// The thread's open calls when the limit was exceeded, outermost first.
    public var path: [HangFrame] = []
    public var threads: [Thread] = []
    /// The threads of a circle, each waiting for the next; the last one for the first.
    public var circle: [UInt32] = []
    /// The stack that was seen most often just before.
    public var repeated: RepeatedStack?
    /// Other paths that the thread was found in while the hang lasted.
    public var laterPaths: [LaterPath] = []
    /// In percent of a core, lately.
    public var cpuPercent: Double = 0
    public var threadCount = 0
    /// Resident memory in bytes.
    public var memory: UInt64 = 0

    public struct LaterPath: Sendable, Equatable {
        public var duration: UInt64
        public var path: [HangFrame]

        public init(duration: UInt64, path: [HangFrame]) {
            self.duration = duration
            self.path = path
        }
    }

    public init(
        kind: Kind, program: String, pid: UInt32, thread: UInt32, threadName: String, startRealtime: UInt64,
        duration: UInt64
    ) {
        self.kind = kind
        self.program = program
        self.pid = pid
        self.thread = thread
        self.threadName = threadName
        self.startRealtime = startRealtime
        self.duration = duration
    }
}
