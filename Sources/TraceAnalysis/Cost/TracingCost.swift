public import TraceFile

/// What the hooks cost a program, measured on the program itself, so that it can be taken out of its times.
///
/// A constant that is measured in an empty loop would do more harm than good, because processors hide the hooks behind
/// work that waits. The difference that the hooks made to this very program, spread over its calls, is right on
/// average.
public struct TracingCost: Sendable, Equatable {
    /// ns of CPU time for each call, its enter and its exit together; 0 when it was too little to be told from noise.
    public let perCall: Double

    /// The ns that fall between the two readings of the clock, and so into the call's own time. The rest falls into its
    /// caller's time.
    public var inside: Double { perCall * TracingCost.insidePart }
    public var outside: Double { perCall - inside }

    /// The part of the cost that falls into the call's own time. Each hook reads the clock halfway through: the enter
    /// hook has still to write its record, and the exit hook has had the way there.
    static let insidePart = 0.3

    /// ns a call on a usual machine, for sessions where nothing was measured.
    public static let usual = 20.0

    /// ns a call for the two hooks of the C library that do nothing. The run without the runtime calls those, too.
    static let emptyHooks = 2.7
    /// ns that the runtime takes when the program starts.
    static let start = 2e6
    /// A difference of less than this part of the program's CPU time, or of fewer ns than the number below, is noise.
    private static let leastPart = 0.02
    private static let leastDifference = 5e6
    /// In ns: no hooks cost more than this. When more was measured, the runs differed in something else.
    private static let most = 200.0

    public init(perCall: Double) { self.perCall = perCall }

    /// The cost by the runs with and without the runtime; nil when `session` was recorded without a baseline.
    ///
    /// The runtime's work at chunk switches is in no call's time, and so is not counted here either.
    ///
    /// - Complexity: O(chunks).
    public init?(of session: Session) {
        guard let baseline = session.description?.baseline else { return nil }
        var calls = session.losses.leftOutCalls
        var switches: UInt64 = 0
        for process in session.processes {
            for thread in process.threads {
                calls &+= thread.countCalls() &+ thread.lostCalls
                switches &+= session.clock.nanoseconds(in: thread.tracerTicks)
            }
        }
        // The time of switches is known only as time that passed, not as CPU time. They consist of system calls.
        switches = min(switches, baseline.traced.systemNanoseconds)
        self.init(plain: baseline.plain.total, traced: baseline.traced.total &- switches, calls: calls)
    }

    /// - Parameters:
    ///   - plain: ns of CPU time without the runtime.
    ///   - traced: ns of CPU time with it, without chunk switches.
    init(plain: UInt64, traced: UInt64, calls: UInt64) {
        let difference = Double(traced) - Double(plain) - TracingCost.start
        let cost = difference / Double(max(calls, 1)) + TracingCost.emptyHooks
        let isKnown =
            difference >= TracingCost.leastDifference && difference >= TracingCost.leastPart * Double(plain)
            && cost <= TracingCost.most
        perCall = isKnown ? cost : 0
    }
}

extension CallPathTree {
    /// The tree with `cost` taken out of every call: the inside part out of its own time, the outside part out of its
    /// caller's.
    ///
    /// No time falls below 0. What a path's time cannot give is taken from its caller, because then more of the cost
    /// fell there. Self times and left-out times still add up to the total of the roots exactly.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func corrected(by cost: TracingCost) -> CallPathTree {
        /// By path: what its callees' hooks cost it, and what their times could not give; and what its callees' times
        /// add up to.
        var owed = [Int64](repeating: 0, count: paths.count)
        var below = [UInt64](repeating: 0, count: paths.count)
        let corrected = paths.store.copy { index, sums in
            var debt =
                owed[index] &+ TracingCost.total(cost.inside, sums.calls)
                &+ TracingCost.total(cost.perCall, sums.dropped.calls)
            sums.selfTime = TracingCost.pay(&debt, from: sums.selfTime)
            sums.dropped.time = TracingCost.pay(&debt, from: sums.dropped.time)
            let total = sums.selfTime &+ sums.dropped.time &+ below[index]
            sums.inherited = min(sums.inherited, total)
            sums.taken = sums.total > total ? sums.total &- total : 0
            sums.total = total
            let parent = Int(Int32(bitPattern: paths.store.node(index).pointee.parent))
            guard parent >= 0 else { return }
            owed[parent] &+= debt &+ TracingCost.total(cost.outside, sums.calls)
            below[parent] &+= total
        }
        return CallPathTree(corrected, functions: functions, cost: cost)
    }
}

extension TracingCost {
    /// The cost of this many calls at `perCall`, in ns.
    fileprivate static func total(_ perCall: Double, _ calls: UInt64) -> Int64 {
        Int64(exactly: (perCall * Double(calls)).rounded()) ?? .max / 4
    }

    /// Pays as much of `debt` as `time` holds, and returns what is left of `time`.
    fileprivate static func pay(_ debt: inout Int64, from time: UInt64) -> UInt64 {
        let paid = min(max(debt, 0), Int64(clamping: time))
        debt -= paid
        return time - UInt64(paid)
    }

    /// One duration, corrected: the call's own cost is taken off, and then its callees' cost, in proportion to the
    /// rest.
    ///
    /// - Parameter callees: the part of the times, 0...1, that is left when the callees' cost is taken out.
    func corrected(_ duration: UInt64, callees: Double) -> UInt64 {
        UInt64((max(0, Double(duration) - inside) * callees).rounded())
    }
}
