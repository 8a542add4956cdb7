/// A moment at which a thread used a page that was not there, and the kernel brought it.
public struct PageFault: BitwiseCopyable, Sendable, Equatable {
    /// When it was over, by the session's clock.
    public var ticks: UInt64
    /// Whether the page was read from a disk. Others were in memory already, or are new.
    public var isMajor: Bool

    public init(ticks: UInt64, isMajor: Bool) {
        self.ticks = ticks
        self.isMajor = isMajor
    }

    /// The same as something that happened to memory.
    public var block: RecordedBlock { RecordedBlock(kind: isMajor ? .majorFault : .minorFault) }
}
