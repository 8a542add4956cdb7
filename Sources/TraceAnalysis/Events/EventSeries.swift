public import TraceFile

/// What a thread set by one name: a mark's moments, or a counter's values; of very many, enough to draw them.
public struct EventSeries: Sendable, Equatable {
    public struct Point: Sendable, Equatable {
        /// ns since the session's start.
        public var moment: UInt64
        /// A counter's value; 0 of a mark.
        public var value: Double

        public init(moment: UInt64, value: Double) { (self.moment, self.value) = (moment, value) }
    }

    public let isCounter: Bool
    /// In the order of time.
    public private(set) var points: [Point] = []
    /// How many were left out, among those that are there.
    public private(set) var leftOut: UInt64 = 0
    private let most: Int

    /// - Parameter most: how many points are kept, at least 4.
    public init(isCounter: Bool, most: Int = 16_384) {
        self.isCounter = isCounter
        self.most = most
    }

    /// - Complexity: O(1), amortised.
    public mutating func add(_ point: Point) {
        if points.count == most { thin() }
        points.append(point)
    }

    /// Leaves half of the points out: of each four neighbours, the least and the greatest stay, so peaks are as they were. The last
    /// one always stays.
    private mutating func thin() {
        var kept: [Point] = []
        kept.reserveCapacity(most)
        for start in stride(from: 0, to: points.count, by: 4) {
            let group = start..<min(start + 4, points.count)
            let least = group.min { points[$0].value < points[$1].value }!
            let greatest = group.max { points[$0].value < points[$1].value }!
            // Of equal ones, as of marks, these are the first and the last.
            let (low, high) =
                points[least].value == points[greatest].value ? (start, group.upperBound - 1) : (least, greatest)
            kept.append(points[min(low, high)])
            if low != high { kept.append(points[max(low, high)]) }
        }
        if let last = points.last, kept.last != last { kept.append(last) }
        leftOut &+= UInt64(points.count - kept.count)
        points = kept
    }
}

extension EventSeries {
    /// The series of each of `threads`, sorted by name.
    ///
    /// - Parameter onProgress: told what part is read, 0...1. It is never called twice at once.
    /// - Complexity: O(records) of threads whose programs have named marks or counters, on all cores; otherwise O(threads).
    public static func all(
        of threads: [TracedThread], in session: Session, resolver: FunctionResolver,
        _ onProgress: @escaping (Double) -> Void = { _ in }
    ) -> [[(name: String, series: EventSeries)]] {
        var result = Array(repeating: [(name: String, series: EventSeries)](), count: threads.count)
        guard session.content == .calls else { return result }
        let telling = threads.indices.filter { index in
            threads[index].process.names.values.contains { $0.kind == .mark || $0.kind == .counter }
        }
        let spaces = telling.map { resolver.space(of: threads[$0].process) }
        ThreadReplays(of: telling.map { threads[$0] }, clock: session.clock, onProgress).run { _, _ in
            EventSink(taker: SeriesTaker())
        } take: { index, sink in
            result[telling[index]] = sink.taker.series.map { (spaces[index].name($0.name), $1) }.sorted {
                $0.name < $1.name
            }
        }
        return result
    }
}

/// Sorts a thread's events by name.
private struct SeriesTaker: EventTaker {
    struct Key: Hashable {
        var name: UInt32
        var isCounter: Bool
    }

    private(set) var series: [Key: EventSeries] = [:]

    mutating func take(_ event: ThreadEvent) {
        let key = Key(name: event.name, isCounter: event.value != nil)
        series[key, default: EventSeries(isCounter: key.isCounter)].add(
            EventSeries.Point(moment: event.moment, value: event.value ?? 0))
    }
}
