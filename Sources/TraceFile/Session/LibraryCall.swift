/// A function of a library by the name by which a module calls it.
public struct LibraryCall: Sendable, Equatable {
    /// From when on, in ticks: another module may have been at that address before.
    public var ticks: UInt64
    /// The symbol's, with `@` and its version where that is not the default one.
    public var name: String
}
