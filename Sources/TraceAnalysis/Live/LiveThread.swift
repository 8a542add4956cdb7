/// What a thread's open calls were at one moment.
public struct LiveThread: Sendable {
    /// Index of the process in the session, and serial number of the thread in the process.
    public var process: UInt32
    public var serial: UInt32
    /// The kernel's ids, as the process sees them.
    public var pid: UInt32
    public var tid: UInt32
    /// As the thread was called when its chunk began, or empty.
    public var name: String
    /// The stack that runs: 0 is the thread's own, any other a coroutine's or a signal handler's.
    public var lane: UInt32
    /// The open calls of that stack, outermost first.
    public var calls: [LiveCall]
    /// Those of other stacks of the thread, as far as they are known: a stack that has not run since the thread's chunk
    /// began is not.
    public var parked: [UInt32: [LiveCall]]
    /// When the thread's last record was made, in ticks. It has neither entered nor left a call with hooks since.
    public var lastTicks: UInt64
    /// Marks that the thread set since it was looked at before, oldest first.
    public var marks: [LiveMark]
    /// Long calls that have ended since then.
    public var ended: [LiveEnd]
    /// Whether some of its records since then were not seen, so that marks and ends may be missing.
    public var hasMissedRecords: Bool

    /// Whether it is the thread that its process began with.
    public var isMain: Bool { pid == tid }
}

/// A mark that a thread has set.
public struct LiveMark: Sendable, Equatable {
    /// Id among the process's names.
    public var name: UInt32
    public var ticks: UInt64
}

/// The end of a call.
public struct LiveEnd: Sendable, Equatable {
    public var call: LiveCall
    public var ticks: UInt64
}
