import TestSupport
import Testing
import TraceAnalysis

@testable import TraceFindings
@testable import TraceHistory

@Suite struct GateTests {
    private func noise(_ count: Int, seed: UInt64, _ level: Double) -> [Double] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in level * (1 + 0.01 * random.normal()) }
    }

    private func judged(_ baseline: [Double], _ candidate: [Double], limit: Double, percent: Double = 50)
        -> GateJudgement
    {
        GateJudgement(baseline: baseline, candidate: candidate, percent: percent, limit: limit, look: 1)
    }

    /// 20 % more fail at a limit of 10 %, and pass at one of 30 %.
    @Test func limits() {
        let (before, after) = (noise(30, seed: 1, 100), noise(30, seed: 2, 120))
        #expect(judged(before, after, limit: 0.1).verdict == .worse)
        #expect(judged(before, after, limit: 0.3).verdict == .fine)
        #expect(judged(before, noise(30, seed: 3, 100), limit: 0.05).verdict == .fine)
        // At the limit, nobody can tell.
        let close = judged(before, noise(30, seed: 4, 110), limit: 0.1)
        #expect(close.verdict == .unknown && (close.runsNeeded ?? .max) > 30)
        // A 90th percentile asks for more runs than a median.
        #expect(judged(before, after, limit: 0.1, percent: 90).verdict == .unknown)
        #expect(judged(noise(80, seed: 1, 100), noise(80, seed: 2, 120), limit: 0.1, percent: 90).verdict == .worse)
    }

    /// With fewer runs than it takes, nobody can tell, and it is said how many there must be.
    @Test func fewRuns() {
        let few = judged([100, 101], [200, 201], limit: 0.1)
        #expect(few.verdict == .unknown && few.runsNeeded == 7)
        #expect(few.baseline.upper == nil)
        #expect(GateJudgement.nextLook(after: 0, look: 0, percent: 50) == 7)
        #expect(GateJudgement.nextLook(after: 7, look: 1, percent: 50) == 11)
    }

    /// However often it is looked, a program like the baseline seldom fails.
    @Test func falseVerdicts() {
        var wrong = 0
        for seed in 0..<100 as Range<UInt64> {
            let before = noise(40, seed: 2 * seed, 100), after = noise(40, seed: 2 * seed + 1, 100)
            var count = 0
            for look in 1...4 {
                count = min(GateJudgement.nextLook(after: count, look: look - 1, percent: 50), 40)
                let judgement = GateJudgement(
                    baseline: before, candidate: Array(after.prefix(count)), percent: 50, limit: 0, look: look)
                if judgement.verdict == .worse { wrong += 1 }
            }
        }
        #expect(wrong <= 2, "\(wrong)")
    }

    @Test func counts() throws {
        var more = SyntheticRun()
        more.calls[4] += 1
        more.calls[5] += 10
        let base = SyntheticRun().content
        let same = GateCounts(baseline: [base, base], candidate: base, limit: 0)
        #expect(!same.isWorse && same.differences.isEmpty)
        let found = GateCounts(baseline: [base, base], candidate: more.content, limit: 0)
        #expect(found.isWorse && found.differences.map(\.function.name) == ["fast", "leaf"])
        #expect(found.differences.map(\.follows) == [false, true])
        #expect(found.differences.map(\.before) == [200, 2000] && found.differences.map(\.after) == [201, 2010])
        // Fewer calls are told, and are not worse.
        let fewer = GateCounts(baseline: [more.content], candidate: base, limit: 0)
        #expect(!fewer.isWorse && fewer.differences.count == 2)
        // 1 % more calls are allowed.
        #expect(!GateCounts(baseline: [base], candidate: more.content, limit: 0.01).isWorse)
        // What varies from one run of the candidate to the next has not changed.
        let once = GateCounts(baseline: [base, base], candidate: more.content, again: base, limit: 0)
        #expect(!once.isWorse && once.varying.map(\.name) == ["fast", "leaf"])
        let twice = GateCounts(baseline: [base, base], candidate: more.content, again: more.content, limit: 0)
        #expect(twice.isWorse && twice.varying.isEmpty)
        // Nor do runs hide a growth that differ by less than that.
        var other = more
        other.calls[5] += 1
        #expect(GateCounts(baseline: [base, base], candidate: more.content, again: other.content, limit: 0).isWorse)
        // What varies by itself is not compared.
        let varied = GateCounts(baseline: [base, more.content, base], candidate: more.content, limit: 0)
        #expect(!varied.isWorse && varied.varying.map(\.name) == ["fast", "leaf"])
    }

    @Test func functions() {
        let base = noise(20, seed: 5, 100),
            identities = ["slow", "same"].map { IdentifiedFunctions.Identity(module: "", name: $0) }
        let before = base.map { [identities[0]: $0, identities[1]: $0] }
        let after = noise(20, seed: 6, 100).map { [identities[0]: $0 * 1.2, identities[1]: $0] }
        let found = GateResult.functions(baseline: before, candidate: after)
        #expect(found.map(\.function.name) == ["slow"])
    }

    /// Where allocations are known on both sides, they are compared as calls are.
    @Test func allocations() throws {
        func content(_ blocks: UInt64?, calls: UInt64 = 20) -> RunContent {
            var run = SyntheticRun()
            run.calls[3] = calls
            var content = run.content
            guard let blocks else { return content }
            content.functions[3].allocations = blocks
            content.measures = [(.allocations, blocks)]
            return content
        }
        func compared(_ baseline: [RunContent], _ candidate: RunContent) -> GateCounts {
            GateCounts(baseline: baseline, candidate: candidate, limit: 0)
        }
        let worse = compared([content(5), content(5)], content(6))
        #expect(worse.isWorse && worse.comparesAllocations)
        #expect(worse.differences.map(\.what) == [.allocations] && worse.differences.map(\.follows) == [false])
        #expect(worse.differences.first.map { [$0.before, $0.after] } == [5, 6])
        #expect(compared([content(5)], content(5)).differences.isEmpty)
        #expect(!compared([content(5)], content(4)).isWorse)
        // What is called more often allocates more, which follows.
        let called = compared([content(5), content(5)], content(6, calls: 21)).differences
        #expect(called.map(\.what) == [.calls, .allocations] && called.last?.follows == true)
        // One side does not know them.
        #expect(!compared([content(nil)], content(6)).isWorse && !compared([content(5)], content(nil)).isWorse)
        #expect(!compared([content(5), content(nil)], content(6)).comparesAllocations)
    }
}
