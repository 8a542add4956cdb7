public import TraceFile

/// The marks and counters that a program set, by name.
public struct ProgramEvents: Sendable {
    /// A mark: when it was first and last set, in ns since the program's start, and how often.
    public struct Mark: Sendable, Equatable {
        public var first: UInt64
        public var last: UInt64
        public var count: UInt64

        public init(first: UInt64, last: UInt64, count: UInt64) {
            (self.first, self.last, self.count) = (first, last, count)
        }
    }

    /// A counter: the value that was set last, the greatest one, and how often it was set.
    public struct Counter: Sendable, Equatable {
        public var value: Double
        public var greatest: Double
        public var count: UInt64
        /// When it was set last, in ns since the program's start.
        public var moment: UInt64

        public init(value: Double, greatest: Double, count: UInt64, moment: UInt64) {
            (self.value, self.greatest, self.count, self.moment) = (value, greatest, count, moment)
        }
    }

    public var marks: [String: Mark] = [:]
    public var counters: [String: Counter] = [:]

    public init() {}

    /// Reads the events of `session`. Moments count from the start of its first process: what Fathom takes to start that one is none
    /// of the program's time.
    ///
    /// - Complexity: O(records) if programs have set any, on all cores; otherwise O(processes).
    public init(of session: Session, resolver: FunctionResolver) {
        let named = session.processes.filter { $0.names.values.contains { $0.kind == .mark || $0.kind == .counter } }
        let threads = session.content == .calls ? named.flatMap(\.threads) : []
        guard !threads.isEmpty else { return }
        let spaces = threads.map { resolver.space(of: $0.process) }
        let start = session.processes.first.map { session.clock.nanoseconds(at: $0.startTicks) } ?? 0
        var found = self
        ThreadReplays(of: threads, clock: session.clock) { _ in }.run { _, _ in
            EventSink(taker: [])
        } take: { index, sink in
            for event in sink.taker { found.add(event, named: spaces[index].name(event.name), since: start) }
        }
        self = found
    }

    /// - Parameter start: the moment from which moments count.
    mutating func add(_ event: ThreadEvent, named name: String, since start: UInt64 = 0) {
        let moment = event.moment - min(start, event.moment)
        if let value = event.value {
            var counter =
                counters[name] ?? Counter(value: value, greatest: value, count: 0, moment: moment)
            if moment >= counter.moment { (counter.value, counter.moment) = (value, moment) }
            counter.greatest = max(counter.greatest, value)
            counter.count += 1
            counters[name] = counter
        } else {
            var mark = marks[name] ?? Mark(first: moment, last: moment, count: 0)
            mark.first = min(mark.first, moment)
            mark.last = max(mark.last, moment)
            mark.count += 1
            marks[name] = mark
        }
    }
}
