/// What was saved of a ring.
public struct FlightSave: Sendable {
    public var session: String
    public var reason: String
    public var calls: UInt64
    public var bytes: UInt64
}
