/// A call of a path as a report of a hang shows it.
public struct HangFrame: Sendable, Equatable {
    public var name: String
    /// How long the call had been open.
    public var nanoseconds: UInt64

    public init(name: String, nanoseconds: UInt64) {
        self.name = name
        self.nanoseconds = nanoseconds
    }
}
