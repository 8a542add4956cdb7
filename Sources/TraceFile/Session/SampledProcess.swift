/// What samples of a process's stacks add up to.
public struct SampledProcess: Sendable {
    /// The stacks of one thread.
    public struct Thread: Sendable {
        public var tid: UInt32
        public var name: String
        /// Callers before callees.
        public var paths: [Path] = []

        public init(tid: UInt32, name: String) {
            self.tid = tid
            self.name = name
        }
    }

    public struct Path: Sendable, Equatable {
        /// Index of the caller's path; nil of an outermost function.
        public var caller: Int?
        /// Address in memory; 0 stands for outer calls that are not known.
        public var function: UInt64
        /// In how many samples it was.
        public var samples: UInt64
        /// What these stand for, in units of whoever counts it.
        public var time: UInt64 = 0

        public init(caller: Int?, function: UInt64, samples: UInt64) {
            self.caller = caller
            self.function = function
            self.samples = samples
        }
    }

    public var pid: Int32
    public var path: String
    public var arguments: [String]
    /// When it was started, in ns of CLOCK_REALTIME.
    public let start: UInt64?
    public var modules: [Module] = []
    /// The names of code that is in no module.
    public var names: [String] = []
    public var threads: [Thread] = []
    /// How often the sampler looked, and how long its looks took in all, in ns.
    public var looks: UInt64 = 0
    public var duration: UInt64 = 0

    public init(pid: Int32, path: String, arguments: [String]) {
        self.pid = pid
        self.path = path
        self.arguments = arguments
        start = processStart(pid)
    }

    /// What stands in paths for code that is in no module.
    ///
    /// - Parameter index: of its name in ``names``.
    public static func named(_ index: Int) -> UInt64 { GivenName.scopeBase + UInt64(index) + 1 }

    /// The time that a sample stands for, in ns.
    public var period: UInt64 { looks == 0 ? 0 : duration / looks }

    /// Samples of all threads.
    public var samples: UInt64 {
        threads.reduce(0) { sum, thread in thread.paths.reduce(sum) { $1.caller == nil ? $0 + $1.samples : $0 } }
    }
}
