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
