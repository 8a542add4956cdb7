internal import TraceAnalysis

/// How many calls took how long, in steps that people count in.
struct DurationHistogram {
    /// Calls that took at least `from` ns and less than `to`.
    struct Row: Equatable {
        var from: UInt64
        var to: UInt64
        var calls: UInt64
    }

    /// Without gaps, the shortest durations first.
    let rows: [Row]

    private static let mostRows = 16
    /// When there are fewer rows whose widths grow with their durations, all are equally wide.
    private static let leastRows = 6
    /// Where rows begin in each decade, in hundredths, the finest first. The first are the preferred numbers R10 (ISO 3).
    private static let series: [[UInt64]] = [
        [100, 125, 160, 200, 250, 315, 400, 500, 630, 800], [100, 150, 200, 300, 500, 700], [100, 200, 500], [100],
    ]

    /// - Complexity: O(different durations).
    init(_ ranks: DurationRanks) {
        guard let shortest = ranks.counts.first?.duration, let longest = ranks.counts.last?.duration else {
            rows = []
            return
        }
        var rows = DurationHistogram.rows(from: shortest, to: longest)
        var row = 0
        for (duration, calls) in ranks.counts {
            while duration >= rows[row].to, row + 1 < rows.count { row += 1 }
            rows[row].calls &+= calls
        }
        self.rows = rows
    }

    private static func rows(from shortest: UInt64, to longest: UInt64) -> [Row] {
        let scales = series.lazy.map { logarithmic($0, shortest, longest) }
        let rows = scales.first { $0.count <= mostRows } ?? logarithmic([100], shortest, longest)
        return rows.count >= leastRows ? rows : linear(shortest, longest)
    }

    private static func logarithmic(_ hundredths: [UInt64], _ shortest: UInt64, _ longest: UInt64) -> [Row] {
        var bounds: [UInt64] = [0]
        var decade: UInt64 = 1
        while bounds[bounds.count - 1] <= longest {
            for step in hundredths {
                let bound = product(decade, step) / 100
                if bound > bounds[bounds.count - 1] { bounds.append(bound) }
            }
            decade = product(decade, 10)
            if decade == .max { bounds.append(.max) }
            if bounds[bounds.count - 1] == .max { break }
        }
        return rows(bounds, shortest, longest)
    }

    private static func linear(_ shortest: UInt64, _ longest: UInt64) -> [Row] {
        var decade: UInt64 = 1
        while true {
            for step in [1, 2, 5] as [UInt64] {
                let width = step * decade
                let first = shortest / width
                guard longest / width - first < mostRows else { continue }
                return rows((first...longest / width + 1).map { product($0, width) }, shortest, longest)
            }
            decade *= 10
        }
    }

    /// The product, or the greatest number there is.
    private static func product(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (product, overflows) = a.multipliedReportingOverflow(by: b)
        return overflows ? .max : product
    }

    /// The rows between `bounds` that durations from `shortest` to `longest` lie in.
    private static func rows(_ bounds: [UInt64], _ shortest: UInt64, _ longest: UInt64) -> [Row] {
        zip(bounds, bounds.dropFirst()).filter { $1 > shortest && $0 <= longest }.map {
            Row(from: $0, to: $1, calls: 0)
        }
    }
}
