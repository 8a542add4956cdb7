/// A call on the stack while a thread is replayed.
@frozen
public struct OpenCall<Payload: BitwiseCopyable>: BitwiseCopyable {
    /// Address in memory; 0 when nothing is known of the call.
    public var function: UInt64
    public var callSite: UInt64
    /// By the session's clock.
    public var enterTicks: UInt64
    /// ns since the session's start, in the thread's own time: without what the tracer took of it.
    public var start: UInt64
    /// Entered in a fork's parent, or before recording was started: known only as context.
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
