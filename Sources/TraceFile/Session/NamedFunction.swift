/// A function that record options name, by the addresses in its module's file at which hooks report it.
public struct NamedFunction: Sendable {
    public var name: String
    public var addresses: [UInt64]
    public var rule: FunctionRule
    /// How its arguments are found, at each call of the enter hook or sled, and its result.
    public var arguments: [ArgumentRecipe] = []
    /// The five bytes that stand at its one address, the first one lowest, if it gets a detour: because it has no hooks or, if
    /// its results are asked for, beside them.
    public var detour: UInt64?
    /// Whether hooks tell of its calls, and a detour of its results alone.
    public var hasHooks = false

    public init(name: String, addresses: [UInt64], rule: FunctionRule) {
        self.name = name
        self.addresses = addresses
        self.rule = rule
    }
}
