import Testing

@testable import TraceAnalysis
@testable import TraceFindings

private let second: UInt64 = 1_000_000_000

/// When a call is a hang, and when it is told of.
@Suite struct HangJudgeTests {
    private let event = HangJudge.Event(process: 0, serial: 1, function: 7, begin: 100)

    /// Looks every 50 ms at an event that begins at 0.2 s and lasts `seconds`; the moments at which something was told, in
    /// tenths of a second.
    private func answers(
        lasting seconds: Double, limits: HangLimits = HangLimits(), stack: (Int) -> [UInt64] = { _ in [1] }
    )
        -> [(tenth: Int, answer: HangJudge.Answer)]
    {
        var judge = HangJudge(limits), told: [(Int, HangJudge.Answer)] = []
        let begin = second / 5, end = begin + UInt64(seconds * 1e9)
        for step in 0..<1200 {
            let now = UInt64(step) * 50_000_000
            let isOpen = (begin..<end).contains(now)
            let events = isOpen ? [(event: event, duration: now - begin, stack: stack(step))] : []
            let ended = now >= end && now < end + 50_000_000 ? [event: end - begin] : [:]
            for answer in judge.look(events, ended: ended, at: now) { told.append((Int(now / (second / 10)), answer)) }
        }
        return told
    }

    @Test(arguments: [0.2, 1, 1.9]) func shortCallsAreNone(_ seconds: Double) {
        #expect(answers(lasting: seconds).isEmpty)
    }

    /// A thread that calls too fast to be read does not end its hang; one that is read, and is not in the call, does.
    @Test func unreadableThreadsHangOn() {
        var judge = HangJudge(HangLimits()), told: [HangJudge.Answer] = []
        for step in 0..<100 {
            let duration = 2 * second + UInt64(step) * 50_000_000, isRead = step < 10 || step == 60
            let events = isRead ? [(event: event, duration: duration, stack: [UInt64(1)])] : []
            told += judge.look(events, isKnown: { _ in isRead || step >= 80 }, at: duration)
        }
        #expect(told.count { if case .began = $0 { true } else { false } } == 1)
        #expect(told.last == .ended(event, duration: 5 * second))
    }

    @Test(arguments: [2.1, 2.5, 3.5]) func longCallsAreOne(_ seconds: Double) {
        let told = answers(lasting: seconds)
        #expect(told.first?.answer == .began(event, duration: 2 * second))
        #expect(told.last?.answer == .ended(event, duration: UInt64(seconds * 1e9)))
    }

    /// A hang of half a minute with one stack is looked at again after 1, 2, 3, 5, 8 and 13 intervals, and is one report.
    @Test func backOff() {
        let told = answers(lasting: 30)
        let moments = told.dropLast().map(\.tenth)
        #expect(moments == [22, 32, 52, 82, 132, 212])
        #expect(told.dropLast().dropFirst().allSatisfy { $0.answer.isSameStack == true })
        #expect(told.count { if case .began = $0.answer { true } else { false } } == 1)
    }

    /// Another stack makes it begin anew.
    @Test func otherStack() {
        let told = answers(lasting: 30) { $0 < 100 ? [1] : [2] }
        #expect(told.map(\.tenth).prefix(6) == [22, 32, 52, 62, 82, 112])
        #expect(told.map(\.answer.isSameStack).prefix(5) == [nil, true, false, true, true])
    }

    /// A look in which the thread is not to be seen does not end a hang.
    @Test func momentWithoutAThread() {
        var judge = HangJudge(HangLimits())
        let hang = [(event: event, duration: 3 * second, stack: [1 as UInt64])]
        let looks = [hang, [], hang, [], []]
        let told = looks.enumerated().map { now, events in judge.look(events, at: UInt64(now)) }
        #expect(told.map(\.count) == [1, 0, 0, 0, 1])
        #expect(told[4] == [.ended(event, duration: 3 * second)])
    }
}

extension HangJudge.Answer {
    fileprivate var isSameStack: Bool? { if case .goesOn(_, _, let isSame) = self { isSame } else { nil } }
}

/// When a process uses the processors for too long.
@Suite struct ProcessorLimitTests {
    private func exceeded(_ usage: (Int) -> Double, seconds: Int = 200) -> (told: [Int], stopped: [Int]) {
        var limit = ProcessorLimit(limit: 80), told: [Int] = [], stopped: [Int] = []
        for now in 1...seconds {
            let wasCounting = limit.isCounting
            if limit.add(usage: usage(now), over: second) {
                told.append(now)
            } else if wasCounting, !limit.isCounting {
                stopped.append(now)
            }
        }
        return (told, stopped)
    }

    @Test func constantLoadIsToldAMinuteApart() { #expect(exceeded { _ in 95 }.told == [60, 180]) }

    @Test func loadThatFallsIsNotTold() {
        let found = exceeded { $0 <= 10 ? 95 : 10 }
        #expect(found.told.isEmpty && found.stopped == [29])
    }

    @Test func littleLoadIsNotCounted() { #expect(exceeded { _ in 80 }.told.isEmpty) }

    /// Nobody knows what happened in a long pause.
    @Test func longPeriodsDoNotCount() {
        var limit = ProcessorLimit(limit: 80)
        let told = (0..<20).filter { _ in limit.add(usage: 100, over: 6 * second) }
        #expect(told.isEmpty && !limit.isCounting)
    }
}

/// Which time counts.
@Suite struct RunningTimeTests {
    @Test func stoppedTimeDoesNotCount() {
        var time = RunningTime()
        for step in 0..<400 {
            time.look(at: UInt64(step) * second / 10, isStopped: (50..<200).contains(step), longest: 10 * second)
        }
        // It was stopped for 15 s, and nobody saw when that began and ended within the two looks around.
        let counted = time.nanoseconds(from: 0, to: 40 * second)
        #expect((24 * second...25 * second).contains(counted))
        #expect(time.nanoseconds(from: 6 * second, to: 12 * second) == 0)
        #expect(time.nanoseconds(from: 30 * second, to: 32 * second) == 2 * second)
    }

    /// Who was not looked at for more than ten seconds was suspended, with whoever looks.
    @Test func longPauseDoesNotCount() {
        var time = RunningTime()
        for now in [0, 1, 2, 14, 15] as [UInt64] { time.look(at: now * second, isStopped: false, longest: 10 * second) }
        #expect(time.nanoseconds(from: 0, to: 15 * second) == 3 * second)
    }
}

/// Which of many stacks stands for them.
@Suite struct StackRingTests {
    @Test func mostRepeated() throws {
        var ring = StackRing(capacity: 20)
        for sample in 0..<100 { ring.add(sample % 10 < 8 ? [1, 2, 3] : [1, 4]) }
        let stack = try #require(ring.mostRepeated { "f\($0)" })
        #expect(stack.frames.map(\.name) == ["f1", "f2", "f3"])
        #expect(stack.frames.map(\.count) == [20, 16, 16])
        #expect(stack.count == 8 && stack.samples == 20)
    }

    /// A run is no longer than the samples that are kept, even where it began before.
    @Test func runWithinTheSamples() throws {
        var ring = StackRing(capacity: 20)
        for _ in 0..<40 { ring.add([1, 2]) }
        #expect(try #require(ring.mostRepeated { "\($0)" }).count == 20)
        for _ in 0..<15 { ring.add([1, 3]) }
        let later = try #require(ring.mostRepeated { "\($0)" })
        #expect(later.count == 15 && later.frames.map(\.name) == ["1", "3"] && later.samples == 20)
    }

    /// Of several that were as frequent, the newest counts.
    @Test func newestOfEqual() throws {
        var ring = StackRing(capacity: 20)
        for function in 1...4 as ClosedRange<UInt64> { ring.add([function]) }
        #expect(ring.mostRepeated { "\($0)" }?.frames.map(\.name) == ["4"])
        #expect(StackRing(capacity: 20).mostRepeated { "\($0)" } == nil)
    }
}

/// Who waits for whom.
@Suite struct WaitCircleTests {
    @Test func circles() {
        #expect(WaitCircle.all([1: 2, 2: 1]) == [[1, 2]])
        #expect(WaitCircle.all([9: 9]) == [[9]])
        #expect(WaitCircle.all([5: 3, 3: 8, 8: 5, 1: 5]) == [[3, 8, 5]])
        #expect(WaitCircle.all([1: 2, 2: 3, 4: 3]).isEmpty)
        #expect(WaitCircle.all([:]).isEmpty)
        #expect(WaitCircle.all([7: 6, 6: 7, 1: 2, 2: 1, 3: 1, 4: 7, 5: 9]) == [[1, 2], [6, 7]])
    }

    @Test func leads() {
        let owners: [UInt32: UInt32] = [1: 2, 2: 1, 3: 1, 4: 5, 5: 5]
        #expect([1, 2, 3].allSatisfy { WaitCircle.leads($0, into: [1, 2], owners) })
        #expect(!WaitCircle.leads(4, into: [1, 2], owners) && !WaitCircle.leads(6, into: [1, 2], owners))
    }
}
