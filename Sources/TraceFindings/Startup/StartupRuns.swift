internal import TraceStatistics

/// Numbers over several runs of a start. Percentiles are nearest ranks.
public struct StartupRuns {
    public struct Numbers: Sendable {
        public var p50: UInt64
        public var p90: UInt64
        public var least: UInt64
        public var most: UInt64

        public var spread: UInt64 { most - least }

        /// - Parameter values: at least one.
        public init(_ values: [UInt64]) {
            let sorted = values.sorted()
            (p50, p90) = (NearestRank.value(of: sorted, 50), NearestRank.value(of: sorted, 90))
            (least, most) = (sorted[0], sorted[sorted.count - 1])
        }
    }

    public let total: Numbers
    /// The numbers of each phase that any run had. A run without it counts with 0.
    public let phases: [(parts: [StartupTimeline.Part], numbers: Numbers)]
    /// Indices of the runs: those that read most pages first, and of these the slowest.
    public let coldestFirst: [Int]
    /// The initializers of the run at ``median``, in the order in which they ran there, each with its median time over the runs
    /// that it ran in.
    public let initializers: [Startup.Initializer]
    /// Index of a run whose total is the median.
    public let median: Int

    /// - Parameter runs: at least one.
    public init(_ runs: [Startup]) {
        let total = Numbers(runs.map(\.total))
        self.total = total
        var parts: [[StartupTimeline.Part]] = []
        for phase in runs.flatMap(\.phases) where !parts.contains(phase.parts) { parts.append(phase.parts) }
        phases = parts.map { parts in
            (parts, Numbers(runs.map { run in run.phases.first { $0.parts == parts }?.nanoseconds ?? 0 }))
        }
        coldestFirst = runs.indices.sorted { left, right in
            let (a, b) = (runs[left], runs[right])
            return (b.majorFaults ?? 0, b.total, left) < (a.majorFaults ?? 0, a.total, right)
        }
        let median = runs.firstIndex { $0.total == total.p50 } ?? 0
        self.median = median
        var times: [Key: [UInt64]] = [:]
        for run in runs {
            for (key, initializer) in zip(StartupRuns.keys(of: run), run.initializers) {
                times[key, default: []].append(initializer.nanoseconds)
            }
        }
        initializers = zip(StartupRuns.keys(of: runs[median]), runs[median].initializers).map { key, initializer in
            var initializer = initializer
            initializer.nanoseconds = Numbers(times[key]!).p50
            return initializer
        }
    }

    /// What an initializer is called in every run: its place among those of its name, too.
    private struct Key: Hashable {
        var module: String
        var function: String
        var place: Int
    }

    private static func keys(of run: Startup) -> [Key] {
        var counts: [Key: Int] = [:]
        return run.initializers.map { initializer in
            var key = Key(module: initializer.module, function: initializer.function, place: 0)
            counts[key, default: 0] += 1
            key.place = counts[key]!
            return key
        }
    }
}
