/// What a module's file says of who may call a function, besides calls that name it.
public struct FunctionUses: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Other modules may call it by its name.
    public static let exported = FunctionUses(rawValue: 1 << 0)
    /// A table of virtual functions holds it.
    public static let virtual = FunctionUses(rawValue: 1 << 1)
    /// It is a witness of a Swift protocol.
    public static let witness = FunctionUses(rawValue: 1 << 2)
    /// Code or data holds its address.
    public static let addressTaken = FunctionUses(rawValue: 1 << 3)
    /// Its code was also put into callers.
    public static let inlined = FunctionUses(rawValue: 1 << 4)
    /// Nothing that the program can reach refers to it, so a linker may leave it out (`--gc-sections`).
    public static let unreachable = FunctionUses(rawValue: 1 << 5)
}
