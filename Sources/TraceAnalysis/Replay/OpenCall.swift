/// A call on the stack while a thread is replayed.
@frozen
public struct OpenCall<Payload: BitwiseCopyable>: BitwiseCopyable {
    /// Address in memory; 0 when nothing is known of the call.
    public var function: UInt64
    public var callSite: UInt64
    /// When it was entered, by the session's clock.
    public var enterTicks: UInt64
    /// When it began, in ns since the session's start, in the thread's own time, which leaves out the tracer's time.
    public var start: UInt64
    /// Whether it was entered in a fork's parent, or before recording was started, and so is known only as context.
    public var isInherited: Bool
    /// What the sink keeps with the call.
    public var payload: Payload

    @inlinable
    public init(
        function: UInt64, callSite: UInt64, enterTicks: UInt64, start: UInt64, isInherited: Bool, payload: Payload
    ) {
        self.function = function
        self.callSite = callSite
        self.enterTicks = enterTicks
        self.start = start
        self.isInherited = isInherited
        self.payload = payload
    }
}
