/// A call of an enter hook, or a sled, whose function's arguments or result are asked for.
public struct ArgumentSite: Sendable {
    /// Where the call of the hook returns to, in the module's file. For a function's first sled it is `function`, and for the
    /// sleds that end the function it is ``result``.
    public var returnAddress: UInt64
    /// What the hook reports, in the module's file.
    public var function: UInt64
    public var arguments: [FoundArgument]

    public static let result: UInt64 = 0
}
