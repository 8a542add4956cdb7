internal import TraceFile

/// Picks a function's calls out of a thread's: the outermost ones, because a call within another is part of that one's
/// time.
struct OutermostCalls {
    /// What a call is to the function.
    enum Role: UInt8, BitwiseCopyable {
        case outside
        /// It is one of the calls.
        case outermost
        /// It is within one.
        case below
    }

    /// Tells whether an address is that of a function that was asked for. It is asked once for each.
    typealias Match = (_ address: UInt64, _ epoch: UInt32) -> Bool

    /// Calls whose whole duration is not known.
    struct Partial {
        var calls: UInt64 = 0
        /// As far as it is known, in ns.
        var longest: UInt64 = 0

        mutating func add(_ other: Partial) {
            calls &+= other.calls
            longest = max(longest, other.longest)
        }
    }

    private(set) var keys = FunctionKeys()
    /// By key: 0 for unknown, 1 for no, 2 for yes.
    private var matches = GrowingMemory<UInt8>(capacity: 64)
    private var judged = 0
    private let match: Match
    private let space: AddressSpace
    private let addressesChange: Bool
    private let from: UInt64
    private let to: UInt64
    /// Calls that are left out, since they were open when the recording ended, or before it began.
    private(set) var partial = Partial()

    /// Picks calls that overlap `from...to`, in ns since the session's start.
    init(_ space: AddressSpace, from: UInt64, to: UInt64, match: @escaping Match) {
        self.space = space
        self.match = match
        self.from = from
        self.to = to
        addressesChange = space.addressesChange
    }

    func free() {
        keys.free()
        matches.free()
    }

    /// The number of a call's function.
    @inline(__always)
    mutating func key<Payload>(of call: UnsafeMutablePointer<OpenCall<Payload>>) -> UInt32 {
        keys.number(call.pointee.function, addressesChange ? space.epoch(at: call.pointee.enterTicks) : 0)
    }

    /// What a call of the function with number `key` is that is made by no call of the function.
    @inline(__always)
    mutating func role(_ key: UInt32) -> Role {
        if Int(key) >= judged || matches.start[Int(key)] == 0 { judge(key) }
        return matches.start[Int(key)] == 2 ? .outermost : .outside
    }

    @inline(never)
    private mutating func judge(_ key: UInt32) {
        if Int(key) >= judged {
            matches.reserve(Int(key))
            (matches.start + judged).initialize(repeating: 0, count: Int(key) + 1 - judged)
            judged = Int(key) + 1
        }
        matches.start[Int(key)] = match(keys[key].pointee.address, keys[key].pointee.epoch) ? 2 : 1
    }

    /// The duration of an outermost call that has ended; nil when it does not count.
    mutating func duration<Payload>(
        of call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState
    ) -> UInt64? {
        let start = call.pointee.start
        guard start <= to, end >= from else { return nil }
        let duration = end > start ? end &- start : 0
        guard state != .open, !call.pointee.isInherited else {
            partial.add(Partial(calls: 1, longest: duration))
            return nil
        }
        return duration
    }
}
