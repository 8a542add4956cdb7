/// A number of calls and their time in ns.
public struct CallSum: BitwiseCopyable, Sendable, Equatable {
    public var calls: UInt64 = 0
    public var time: UInt64 = 0

    public init(calls: UInt64 = 0, time: UInt64 = 0) {
        self.calls = calls
        self.time = time
    }

    @inline(__always)
    public mutating func add(_ other: CallSum) {
        calls &+= other.calls
        time &+= other.time
    }
}
