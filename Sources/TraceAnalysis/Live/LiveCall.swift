/// A call that is open now, or was at the last look.
public struct LiveCall: Sendable, Equatable {
    /// Address in memory; 0 when nothing is known of the call.
    public var function: UInt64
    /// Address in memory behind the call instruction; 0 when that is not known.
    public var callSite: UInt64
    /// When it was entered, by the session's clock; for an inherited call, when the child or the recording began.
    public var enterTicks: UInt64
    /// Whether it was entered in a fork's parent, or before recording was started.
    public var isInherited = false

    public init(function: UInt64, callSite: UInt64, enterTicks: UInt64, isInherited: Bool = false) {
        self.function = function
        self.callSite = callSite
        self.enterTicks = enterTicks
        self.isInherited = isInherited
    }

    /// A call of which nothing is known but that it is open.
    static func unknown(at ticks: UInt64) -> LiveCall { LiveCall(function: 0, callSite: 0, enterTicks: ticks) }
}
