public import TraceAnalysis

/// Which parts of times a view shows besides the whole.
public struct SplitTimes: Sendable {
    public enum Shown: String, CaseIterable, Sendable {
        /// On a CPU.
        case cpu
        case blocked
        case runnable
        case all
    }

    /// Whether it was recorded when threads had no CPU.
    public var isKnown: Bool
    /// Whether the kernel told when threads lost their CPUs. Otherwise, time without a CPU that is no wait counts as running.
    public var knowsRunnable: Bool
    /// Nil when no part was asked for.
    public var shown: Shown?
    /// Whether it was recorded what memory was allocated and freed.
    public var knowsMemory = false
    /// Whether the kernel told of page faults.
    public var knowsFaults = false

    public init(isKnown: Bool = false, knowsRunnable: Bool = true, shown: Shown? = nil) {
        self.isKnown = isKnown
        self.knowsRunnable = knowsRunnable
        self.shown = shown
    }

    /// The parts that have columns.
    public var columns: [TimeKind] {
        switch shown {
        case nil: []
        case .cpu: [.running]
        case .blocked: [.blocked]
        case .runnable: [.runnable]
        case .all: knowsRunnable ? [.running, .blocked, .runnable] : [.running, .blocked]
        }
    }

    /// Whether what threads waited has a column without being asked for: where it is 1 % of their time or more, and more than what
    /// some late switches make.
    ///
    /// - Parameters:
    ///   - blocked: how long they were blocked, in ns.
    ///   - whole: how long they were in calls, in ns.
    public func tellsWaits(_ blocked: UInt64, in whole: UInt64) -> Bool {
        isKnown && shown == nil && blocked >= max(100_000, whole / 100)
    }

    /// What a report is sorted by.
    public var order: ReportColumn {
        switch shown {
        case nil, .all: .total
        case .cpu: .running
        case .blocked: .blocked
        case .runnable: .runnable
        }
    }

    /// What is compared and sorted by.
    public var measure: TimeKind {
        switch shown {
        case nil, .all: .total
        case .cpu: .running
        case .blocked: .blocked
        case .runnable: .runnable
        }
    }
}

extension TimeKind {
    /// The heading of its column.
    var heading: StaticString {
        switch self {
        case .total: "total"
        case .running: "running"
        case .blocked: "blocked"
        case .runnable: "runnable"
        }
    }
}
