/// When what a ring holds is saved, beside the end of the program by a signal and its own wish.
public struct FlightPlan: Sendable {
    /// The signal by which the user asks `fathom record` for a save. The program does not get this signal.
    public var signal: Int32?
    /// Whether what the ring holds is saved when a signal ends the program.
    public var savesCrashes = true
    /// The most saves within an hour.
    public var savesPerHour = FlightPlan.defaultSavesPerHour
    /// Decides which calls take long enough; nil where no call does.
    public var judge: (any FlightJudge)?
    /// Hears of each save, on a thread of the recorder's.
    public var onSave: @Sendable (FlightSave) -> Void = { _ in }

    public static let defaultSavesPerHour = 20

    public init() {}
}

/// Decides which calls are worth saving. The recorder asks on one thread at a time.
public protocol FlightJudge: AnyObject, Sendable {
    /// The recorder hears of calls that took at least this, in ns; nil: of none as yet. It asks about once a second.
    ///
    /// - Parameter ring: the directory of the recording, which can be read as a session.
    func leastDuration(in ring: String) -> UInt64?

    /// Why what the ring holds is to be saved now; nil when this call is no reason.
    func reason(for call: LongCall, in ring: String) -> String?
}

/// A call that has ended, and took long or had arguments that are asked for.
public struct LongCall: Sendable {
    /// Index of the process in the session.
    public var process: UInt32
    /// The address of its function.
    public var function: UInt64
    /// In ns.
    public var duration: UInt64
    /// When it ended, in ticks of the session's clock.
    public var endTicks: UInt64
    /// The conditions on arguments that it fulfils, a bit for each; 0: it took long.
    public var conditions: UInt32 = 0
}

/// What was saved of a ring.
public struct FlightSave: Sendable {
    public var session: String
    public var reason: String
    public var calls: UInt64
    public var bytes: UInt64
}
