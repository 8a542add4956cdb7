import Testing
import TraceFile
import TraceSystem

@Suite struct ClockTests {
    /// A session's start is the same moment by both clocks.
    @Test func startIsAMoment() {
        let before = SystemClock.realtime, clock = SessionClock(), after = SystemClock.realtime
        #expect((before - (after - before)...after).contains(clock.startRealtime))
        let elapsed = SystemClock.monotonic - clock.start.nanoseconds, now = SystemClock.realtime
        #expect(clock.startRealtime + elapsed <= now)
    }

    @Test func monotonicIsIdentity() {
        let clock = Clock(monotonicFrom: 1000)
        #expect(clock.nanoseconds(at: 1000) == 0)
        #expect(clock.nanoseconds(at: 999) == 0)
        #expect(clock.nanoseconds(at: 123_456_789_012) == 123_456_788_012)
    }

    @Test(arguments: [24_000_000, 10_000_000, 1_000_000_000, 2_600_000_000, 5_000_000_000] as [UInt64])
    func aDayIsExact(_ frequency: UInt64) {
        let clock = Clock(startTicks: 5, ticks: frequency, nanoseconds: 1_000_000_000)
        let day: UInt64 = 86400
        let error = Int64(clock.nanoseconds(at: 5 + day * frequency)) - Int64(day * 1_000_000_000)
        #expect(abs(error) <= 1)
        #expect(abs(clock.frequency / Double(frequency) - 1) < 1e-9)
    }

    @Test func isMonotone() {
        let clock = Clock(startTicks: 0, ticks: 2_596_123_457, nanoseconds: 1_000_000_000)
        var last: UInt64 = 0
        for ticks in stride(from: UInt64(0), to: 1_000_000, by: 7) {
            let time = clock.nanoseconds(at: ticks)
            #expect(time >= last)
            last = time
        }
    }

    @Test func inverse() {
        let clock = Clock(startTicks: 77, ticks: 26, nanoseconds: 10)
        #expect(clock.nanoseconds(at: clock.ticks(at: 1_000_000)) >= 999_999)
        #expect(clock.ticks(at: .max) == .max || clock.ticks(at: .max) > 1 << 60)
    }

    /// What a damaged header may hold.
    @Test(arguments: [(0, 0), (.max, 1), (1, .max), (.max, .max)] as [(UInt64, UInt64)])
    func extremesDoNotTrap(_ ticks: UInt64, _ nanoseconds: UInt64) {
        let clock = Clock(startTicks: 3, ticks: ticks, nanoseconds: nanoseconds)
        _ = clock.nanoseconds(at: .max)
        _ = clock.ticks(at: .max)
    }
}
