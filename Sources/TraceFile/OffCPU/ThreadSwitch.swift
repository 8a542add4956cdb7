/// A moment at which a thread left a CPU, or got one.
public struct ThreadSwitch: BitwiseCopyable, Sendable {
    /// In ns since the session's start, on the clock that all threads share.
    public var time: UInt64
    public var cpu: UInt16
    public var isOut: Bool
    /// Whether a thread that left the CPU would have gone on.
    public var wantsCPU: Bool
}
