public import TraceFile

/// What was recorded, and what was not.
public struct RecordingSummary: Sendable {
    public var status: TargetStatus
    /// The session directory as it was asked for.
    public var session: String
    /// Where the session is now that had this name before; nil where there was none.
    public var setAside: String?
    public var processes = 0
    public var threads = 0
    public var calls: UInt64 = 0
    /// Call paths, where calls are added up, and the calls that were folded into their callers' paths because there were
    /// too many.
    public var paths: UInt64 = 0
    public var foldedCalls: UInt64 = 0
    /// Whether there are as many call paths as may be, so that threads which begin later find none for their calls.
    public var isFullOfPaths = false
    /// Where stacks were looked at: the samples, and those that came to nothing because a thread was too fast.
    public var samples: UInt64 = 0
    public var tornSamples: UInt64 = 0
    /// The mean time between two looks, in ns; nil where nobody looked.
    public var samplePeriod: UInt64?
    /// Why the program's memory cannot be read.
    public var sampleRefusal: String?
    /// Programs with hooks that were started and not recorded.
    public var missedProcesses = 0
    /// The size of the trace, in bytes.
    public var bytes: UInt64 = 0
    /// Whether processes go on recording into the session after the program has ended.
    public var isContinued = false
    /// The process that goes on recording them in the background; nil when there is none.
    public var backgroundRecorder: Int32?
    /// Those of these processes that have made calls.
    public var stillRunning: [Int32] = []
    /// Calls of finished chunks that could not be written, and why.
    public var unwrittenCalls: UInt64 = 0
    public var writeError: String?
    /// Calls that found no buffer: the file system was full, or the size cap was reached.
    public var lostCalls: UInt64 = 0
    /// Calls that are not among these: no return place was free.
    public var unreturnedCalls: UInt64 = 0
    public var isCapped = false
    /// Chunks that the program had written over in memory.
    public var spoiledChunks: UInt64 = 0
    /// Whether the program had also written over the count of lost calls. Then there may be more.
    public var isSpoiled = false
    /// What the program took without the runtime, if that was asked for, or why that is not known.
    public var baseline: Baseline?
    public var baselineProblem: String?
    /// Whether what was recorded went into a ring.
    public var isFlight = false
    /// What was saved of the ring.
    public var saves: [FlightSave] = []
    /// Saves that were refused because there had been too many.
    public var refusedSaves: UInt64 = 0
    /// Long calls that came faster than the recorder could look at them.
    public var unjudgedCalls: UInt64 = 0
    /// Why the last save that failed did.
    public var saveProblem: String?
    /// Whether the ring itself is left as the session, because the last save failed.
    public var leavesRing = false
    /// How it was found out when threads waited; nil when nobody asked.
    public var waitSources: WaitSources?
    /// Context switches that the kernel had no room for, and why others could not be written.
    public var lostSwitches: UInt64 = 0
    public var switchProblem: String?
    /// Wakings, of whichever program, that the kernel had no room for, and why others could not be written.
    public var lostWakings: UInt64 = 0
    public var wakingProblem: String?
    /// Whether the kernel told of page faults; nil when nobody asked.
    public var faultSource: FaultSource?
    /// Page faults that the kernel had no room for, and why others could not be written.
    public var lostFaults: UInt64 = 0
    public var faultProblem: String?
    /// System calls that came faster than they were read, and why the kernel told of none.
    public var lostSystemCalls: UInt64 = 0
    public var systemCallRefusal: String?
    /// Why texts that system calls were given, such as paths, are not known; nil where they are, or no system calls were asked for.
    public var systemCallTextRefusal: String?
    /// Why the kernel did not tell of the program's start, or why not all of it was written; nil where it was not asked.
    public var startupProblem: String?
    /// Calls that the options left out.
    public var leftOutCalls: UInt64 = 0
}
