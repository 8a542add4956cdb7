/// One call path: a function, called by its caller's path.
public struct CallPath: BitwiseCopyable, Sendable {
    /// Id in the ``FunctionTable``.
    public let function: UInt32
    /// Index of the caller's path, or -1 for a root.
    public let parent: Int32
    /// Index after the last path below this one.
    public let end: Int32
    /// Roots are depth 0.
    public let depth: UInt32
    public let sums: CallPathSums
    /// Number of its histogram; 0 when it has none.
    let histogram: UInt32
}
