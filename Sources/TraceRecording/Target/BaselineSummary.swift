/// What the command took with the runtime and without it.
public struct BaselineSummary: Sendable {
    var traced: ProcessorTime
    /// The median of `runs`.
    var plain: ProcessorTime
    /// How often it ran without the runtime.
    public var runs: Int

    /// CPU time in nanoseconds, the program's own and the system's for it.
    public var tracedNanoseconds: UInt64 { traced.total }
    public var plainNanoseconds: UInt64 { plain.total }
}
