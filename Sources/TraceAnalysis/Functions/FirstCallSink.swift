internal import TraceFile

/// Notes when one thread called each function first, as it is replayed.
struct FirstCallSink: CallSink {
    struct Payload: BitwiseCopyable {}

    private let space: AddressSpace
    private let addressesChange: Bool
    private var keys = FunctionKeys()
    /// When the function of each key was called first, in ns; `.max` for none.
    private var moments = GrowingMemory<UInt64>(capacity: 64)
    private var known = 0

    init(_ space: AddressSpace) {
        self.space = space
        addressesChange = space.addressesChange
    }

    func free() {
        keys.free()
        moments.free()
    }

    /// The functions that were called, each with its first moment.
    var firstCalls: [(address: UInt64, epoch: UInt32, moment: UInt64)] {
        (0..<known).compactMap { number in
            let moment = moments.start[number]
            guard moment != .max else { return nil }
            let key = keys[UInt32(number)].pointee
            return (key.address, key.epoch, moment)
        }
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let epoch = addressesChange ? space.epoch(at: call.pointee.enterTicks) : 0
        let key = Int(keys.number(call.pointee.function, epoch))
        if key >= known { grow(to: key) }
        // Another process, or this one before the recording, made the inherited calls.
        if call.pointee.start < moments.start[key] { moments.start[key] = call.pointee.start }
    }

    @inline(never)
    private mutating func grow(to key: Int) {
        moments.reserve(key)
        (moments.start + known).initialize(repeating: .max, count: key + 1 - known)
        known = key + 1
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {}
    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
