internal import TraceAnalysis

/// What the calls of a path add up to: all of them, or what has come since an earlier moment. Times in ns.
///
/// A difference may be negative. A call that was open at the earlier moment is in that moment's durations, as long as it had been
/// open; the difference takes this back and has what it is now. So differences add up to the last moment's sums exactly.
public struct FleetSums: Sendable, Equatable {
    public var calls: Int64 = 0
    public var total: Int64 = 0
    public var selfTime: Int64 = 0
    /// Parts of `total`; 0 where they were not recorded.
    public var running: Int64 = 0
    public var blocked: Int64 = 0
    /// The shortest call that has ended, and the longest one, also of those that go on; in a difference that does not know them better,
    /// the bounds of their buckets. nil where there are none.
    public var minimum: UInt64?
    public var maximum: UInt64?
    /// How many calls took how long, by the numbers of buckets, in order.
    public var durations: [Duration] = []

    public struct Duration: Sendable, Equatable {
        public var bucket: UInt16
        public var calls: Int64
    }

    public init() {}

    /// - Parameter keepsTimes: whether times were recorded, and not only calls.
    public init(_ sums: SubjectSums, keepsTimes: Bool) {
        calls = Int64(clamping: sums.calls)
        guard keepsTimes else { return }
        total = Int64(clamping: sums.total)
        selfTime = Int64(clamping: sums.selfTime)
        blocked = Int64(clamping: sums.blocked)
        running = total - blocked - Int64(clamping: sums.runnable)
        guard sums.calls > 0 else { return }
        // How long a call has been open is no call's duration.
        let shortest = sums.shortestEnded ?? sums.minimum
        minimum = shortest == .max ? nil : shortest
        maximum = sums.maximum
        var reader = DurationReader()
        sums.addDurations(to: &reader)
        durations = reader.take().pairs.map { Duration(bucket: $0.bucket, calls: Int64(clamping: $0.count)) }
    }

    /// Whether it has nothing to tell.
    public var isNothing: Bool {
        calls == 0 && total == 0 && selfTime == 0 && running == 0 && blocked == 0 && durations.isEmpty
    }

    /// What has come since `earlier`.
    ///
    /// - Complexity: O(buckets).
    public func since(_ earlier: FleetSums) -> FleetSums {
        var new = FleetSums()
        new.calls = calls &- earlier.calls
        new.total = total &- earlier.total
        new.selfTime = selfTime &- earlier.selfTime
        new.running = running &- earlier.running
        new.blocked = blocked &- earlier.blocked
        var (left, right) = (durations[...], earlier.durations[...])
        while let bucket = [left.first?.bucket, right.first?.bucket].compactMap(\.self).min() {
            var count: Int64 = 0
            if let first = left.first, first.bucket == bucket {
                count = first.calls
                left.removeFirst()
            }
            if let first = right.first, first.bucket == bucket {
                count &-= first.calls
                right.removeFirst()
            }
            if count != 0 { new.durations.append(Duration(bucket: bucket, calls: count)) }
        }
        let highest = new.durations.last { $0.calls > 0 }?.bucket, lowest = new.durations.first { $0.calls > 0 }?.bucket
        if (maximum ?? 0) > (earlier.maximum ?? 0) {
            new.maximum = maximum
        } else {
            new.maximum = highest.map { min(DurationCounts.end(of: $0), maximum ?? .max) }
        }
        if let minimum, minimum < earlier.minimum ?? .max {
            new.minimum = minimum
        } else if let minimum, let lowest {
            // Where all that is new is shorter than any call that has ended, none of it has.
            let least = max(DurationCounts.start(of: lowest), minimum)
            new.minimum = least <= new.maximum ?? 0 ? least : nil
        }
        return new
    }
}
