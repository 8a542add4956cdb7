public import TraceStatistics

/// Starts of a program in an old and a new layout, measured by turns: whether the new one is better, and how sure that is.
public struct StartComparison: Sendable {
    /// What one start took.
    public struct Start: Sendable {
        /// Whether the program's file was read from the disk, and not from memory.
        public var isCold: Bool
        public var majorFaults: Double
        public var minorFaults: Double
        /// Pages of the program's file that the process had in memory when it ended.
        public var residentPages: Double
        /// From the program's first instruction to its end; nil where it was ended by whoever measured.
        public var nanoseconds: Double?

        public init(
            isCold: Bool, majorFaults: Double, minorFaults: Double, residentPages: Double, nanoseconds: Double?
        ) {
            self.isCold = isCold
            self.majorFaults = majorFaults
            self.minorFaults = minorFaults
            self.residentPages = residentPages
            self.nanoseconds = nanoseconds
        }
    }

    public enum Measure: String, Sendable, CaseIterable {
        case residentPages = "resident_pages"
        case majorFaults = "major_faults"
        case minorFaults = "minor_faults"
        case time = "time_ns"

        fileprivate func value(_ start: Start) -> Double? {
            switch self {
            case .residentPages: start.residentPages
            case .majorFaults: start.majorFaults
            case .minorFaults: start.minorFaults
            case .time: start.nanoseconds
            }
        }
    }

    public enum Verdict: String, Sendable { case better, same, worse }

    public struct Row: Sendable {
        public var isCold: Bool
        public var measure: Measure
        public var comparison: SampleComparison
        public var verdict: Verdict
    }

    public let rows: [Row]

    /// The chance that two equal builds are told apart, by any of the numbers.
    private static let doubt = 0.05
    /// The part of a number by which it may grow without being worse.
    private static let tolerance = 0.01

    /// Whether something is surely better, and nothing is surely worse.
    public var isBetter: Bool {
        rows.contains { $0.verdict == .better } && !rows.contains { $0.verdict == .worse }
    }

    /// - Parameters:
    ///   - old: the starts with the old layout; those that were cold may be missing.
    ///   - new: likewise.
    public init(old: [Start], new: [Start]) {
        let compared = [true, false].flatMap { isCold in
            Measure.allCases.compactMap { measure -> (Bool, Measure, SampleComparison)? in
                let before = old.filter { $0.isCold == isCold }.compactMap(measure.value)
                let after = new.filter { $0.isCold == isCold }.compactMap(measure.value)
                guard !before.isEmpty, !after.isEmpty else { return nil }
                return (isCold, measure, SampleComparison(before: before, after: after))
            }
        }
        // Each number is one more chance to be wrong (Bonferroni).
        let doubt = StartComparison.doubt / Double(max(compared.count, 1))
        rows = compared.map {
            Row(isCold: $0, measure: $1, comparison: $2, verdict: StartComparison.verdict($2, doubt))
        }
    }

    private static func verdict(_ comparison: SampleComparison, _ doubt: Double) -> Verdict {
        guard let chance = comparison.chance, chance < doubt else { return .same }
        if comparison.change < 0 { return .better }
        // What lies at another place may take a page more or less.
        return comparison.relativeChange > tolerance ? .worse : .same
    }
}
