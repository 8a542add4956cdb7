/// All that is known of one start of a program.
public struct Startup {
    /// An initializer that ran by itself.
    public struct Initializer: Sendable {
        /// Path of its module.
        public var module: String
        public var function: String
        public var file: String?
        /// ns since the session's start.
        public var begin: UInt64
        public var nanoseconds: UInt64
        public var minorFaults: UInt64
        public var majorFaults: UInt64
        public var bytesRead: UInt64

        public init(
            module: String, function: String, file: String?, begin: UInt64, nanoseconds: UInt64, minorFaults: UInt64,
            majorFaults: UInt64, bytesRead: UInt64
        ) {
            self.module = module
            self.function = function
            self.file = file
            self.begin = begin
            self.nanoseconds = nanoseconds
            self.minorFaults = minorFaults
            self.majorFaults = majorFaults
            self.bytesRead = bytesRead
        }
    }

    /// A library that was there when main was called.
    public struct Library: Sendable {
        public var path: String
        public var isSystem: Bool
        /// Whether it was preloaded to record.
        public var isOurs: Bool
        /// What the loader took for it; nil where that is not known.
        public var mapping: UInt64?
        public var relocation: UInt64?
        /// How many addresses it has to fill in, by kind; nil where the file cannot be read.
        public var relocations: Relocations?
        /// Whether nothing that was loaded refers to it.
        public var isUnused = false

        public init(path: String, isSystem: Bool, isOurs: Bool) {
            self.path = path
            self.isSystem = isSystem
            self.isOurs = isOurs
        }

        /// What it cost to have it.
        public var cost: UInt64 { (mapping ?? 0) + (relocation ?? 0) }
    }

    /// Numbers of relocations by kind.
    public struct Relocations: Sendable, Equatable {
        /// Addresses in the library itself.
        public var relative: UInt64 = 0
        /// Data, and functions that are looked up by name at once.
        public var symbols: UInt64 = 0
        /// Functions that are called by way of the procedure linkage table, and may be looked up at their first call.
        public var calls: UInt64 = 0
        /// Addresses that a function of the library chooses.
        public var indirect: UInt64 = 0
        public var copies: UInt64 = 0
        public var threadLocal: UInt64 = 0
        public var other: UInt64 = 0

        public init() {}

        public var total: UInt64 { relative + symbols + calls + indirect + copies + threadLocal + other }

        public mutating func add(_ more: Relocations) {
            relative += more.relative
            symbols += more.symbols
            calls += more.calls
            indirect += more.indirect
            copies += more.copies
            threadLocal += more.threadLocal
            other += more.other
        }
    }

    public var timeline: StartupTimeline
    public var phases: [StartupPhase] = []
    /// In the order in which they ran.
    public var initializers: [Initializer] = []
    public var libraries: [Library] = []
    /// The relocations of the program and all libraries together; nil where those of some are not known.
    public var relocations: Relocations?
    /// The most gain first.
    public var advice: [StartupAdvice] = []
    public var calls: StartupCalls
    /// Bytes read from disks by the time that main was called; nil where nobody counted them.
    public var bytesRead: UInt64?
    public var majorFaults: UInt64?
    /// What the end point is, as a clause: `main`, `mark 'first frame'`.
    public var end: String
    /// Why the end point is not known; nil when it was reached.
    public var incompleteness: String?
    /// What is not known of the start, each a sentence.
    public var gaps: [String] = []

    public init(timeline: StartupTimeline, calls: StartupCalls, end: String) {
        self.timeline = timeline
        self.calls = calls
        self.end = end
    }

    public var total: UInt64 { timeline.total }
    /// Up to main; nil where that is not known.
    public var preMain: UInt64? { timeline.main.map { $0 - timeline.begin } }
}
