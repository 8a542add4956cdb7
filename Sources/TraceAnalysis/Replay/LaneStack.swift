/// The open calls of one lane, in memory that stays where it is until it grows.
///
/// `base` is no call: it stands below depth 0 and is the caller of the calls at depth 0.
@frozen
public struct LaneStack<Payload: BitwiseCopyable> {
    public let lane: UInt32
    public var base: UnsafeMutablePointer<OpenCall<Payload>>
    /// The innermost open call, or `base`.
    public var top: UnsafeMutablePointer<OpenCall<Payload>>
    public var limit: UnsafeMutablePointer<OpenCall<Payload>>

    @inlinable
    public init(lane: UInt32, payload: Payload) {
        self.lane = lane
        base = .allocate(capacity: 16)
        top = base
        limit = base + 16
        base.initialize(
            to: OpenCall(function: 0, callSite: 0, enterTicks: 0, start: 0, isInherited: false, payload: payload))
    }

    @inlinable public var depth: Int { top - base }

    /// Doubles the room.
    @inlinable @inline(never)
    public mutating func grow() {
        let count = top - base + 1
        let capacity = (limit - base) * 2
        let larger = UnsafeMutablePointer<OpenCall<Payload>>.allocate(capacity: capacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        top = base + (count - 1)
        limit = base + capacity
    }

    @inlinable public func free() { base.deallocate() }
}
