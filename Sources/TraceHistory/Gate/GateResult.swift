public import TraceAnalysis
internal import TraceStatistics

/// What a gate found.
public struct GateResult: Sendable {
    /// A function's own time, on both sides.
    public struct Function: Sendable {
        public var function: IdentifiedFunctions.Identity
        public var own: HistoryChanges.Numbers
    }

    public enum Finding: Sendable {
        case counts(GateCounts)
        /// How the times of a subject compare, by a percentile, within a limit; with the functions whose own time is otherwise,
        /// most time first.
        case times(GateJudgement, subject: HistorySubject, percent: Double, limit: Double, functions: [Function])
        /// Nothing could be compared, for this reason.
        case nothing(String)
    }

    public let finding: Finding
    public let command: String
    /// Where the baseline is from.
    public let baseline: String

    public init(_ finding: Finding, command: String, baseline: String) {
        self.finding = finding
        self.command = command
        self.baseline = baseline
    }

    public var verdict: GateJudgement.Verdict {
        switch finding {
        case .counts(let counts): counts.isWorse ? .worse : .fine
        case .times(let judgement, _, _, _, _): judgement.verdict
        case .nothing: .unknown
        }
    }

    /// The functions whose own time differs between two sides beyond noise, by a rank test of each, with the risk dealt out among them.
    ///
    /// - Parameters:
    ///   - baseline: own times in ns of each run, by function; nor is `candidate` empty.
    public static func functions(
        baseline: [[IdentifiedFunctions.Identity: Double]], candidate: [[IdentifiedFunctions.Identity: Double]]
    ) -> [Function] {
        let all = Set(baseline.flatMap(\.keys)).union(candidate.flatMap(\.keys))
        return all.compactMap { function -> Function? in
            let (before, after) = (baseline.map { $0[function] ?? 0 }, candidate.map { $0[function] ?? 0 })
            guard RankTest.twoSided(before, after) <= GateJudgement.risk / Double(all.count) else { return nil }
            return Function(
                function: function,
                own: HistoryChanges.Numbers(before: Percentile.median(before), after: Percentile.median(after)))
        }.sorted { (abs($0.own.change), $1.function.name) > (abs($1.own.change), $0.function.name) }
    }
}
