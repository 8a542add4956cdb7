internal import CTraceFormat

/// What became of the sleds of a module that `fathom build --dormant` built.
public struct SledCounts: Sendable, Equatable {
    /// Functions that have sleds.
    public var functions: Int
    /// Those whose calls are recorded.
    public var open: Int
    /// Those that options leave out by name.
    public var unwanted: Int
    /// Those that are smaller than asked for.
    public var small: Int
    /// Those whose sleds are not as compilers make them.
    public var unknown: Int
    /// Those whose sled a loop leads to that keeps values where open sleds write.
    public var looping: Int
    /// Those that were closed again because they cost more than asked for.
    public var busy: Int
    /// The error with which the code could not be changed; 0: it could.
    public var error: Int32

    init(_ raw: fathom_sleds_item) {
        functions = Int(raw.functions)
        open = Int(raw.open)
        unwanted = Int(raw.unwanted)
        small = Int(raw.small)
        unknown = Int(raw.unknown)
        looping = Int(raw.looping)
        busy = Int(raw.busy)
        error = Int32(bitPattern: raw.error)
    }
}
