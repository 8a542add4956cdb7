/// Decides which calls are worth saving. The recorder asks on one thread at a time.
public protocol FlightJudge: AnyObject, Sendable {
    /// The recorder hears of calls that took at least this, in ns; nil: of none as yet. It asks whenever it looks.
    ///
    /// - Parameter ring: the directory of the recording, which can be read as a session.
    func leastDuration(in ring: String) -> UInt64?

    /// Why what the ring holds is to be saved now; nil when this call is no reason.
    func reason(for call: LongCall, in ring: String) -> String?
}
