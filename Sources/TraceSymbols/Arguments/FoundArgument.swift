/// An argument of a function, or a part of one, at one call of the enter hook.
public struct FoundArgument: Sendable, Hashable {
    /// As it was asked for.
    public var name: String
    public var kind: ArgumentKind
    /// None where there is nothing to record.
    public var steps: [ArgumentStep]
}
