/// A call of an enter hook, or a sled, whose function's arguments or result are asked for.
public struct ArgumentSite: Sendable {
    /// Of the hook, in the module's file; `function` for its first sled, and ``result`` for those that end it.
    public var returnAddress: UInt64
    /// What the hook reports, in the module's file.
    public var function: UInt64
    public var arguments: [FoundArgument]

    public static let result: UInt64 = 0
}
