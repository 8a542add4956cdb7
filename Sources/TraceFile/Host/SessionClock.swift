internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// The clock that a session counts its ticks with.
package struct SessionClock {
    /// FATHOM_CLOCK_*.
    package let kind: UInt8
    package let start: Moment
    /// When ``start`` was, in ns since 1970; never later, because what changes afterwards must not count as older.
    package let startRealtime: UInt64
    package private(set) var ticksPerSecond: UInt64

    /// One moment on two clocks.
    package struct Moment {
        package var ticks: UInt64
        package var nanoseconds: UInt64

        package init(ticks: UInt64, nanoseconds: UInt64) { (self.ticks, self.nanoseconds) = (ticks, nanoseconds) }
    }

    package init() {
        kind = UInt8(Self.counterIsTrusted() ? FATHOM_CLOCK_COUNTER : FATHOM_CLOCK_MONOTONIC)
        start = Self.now(kind)
        startRealtime = Self.realtime(at: start.nanoseconds)
        ticksPerSecond = 1_000_000_000
    }

    /// Measures the rate over the time since `start`. The reader refines it with the moments in the chunks.
    ///
    /// Two readings a millisecond apart are good to some ten parts in a million.
    package mutating func calibrate() {
        guard kind == UInt8(FATHOM_CLOCK_COUNTER) else { return }
        var end = Self.now(kind)
        while end.nanoseconds - start.nanoseconds < 1_000_000 { end = Self.now(kind) }
        let ticks = Double(end.ticks - start.ticks), seconds = Double(end.nanoseconds - start.nanoseconds) / 1e9
        ticksPerSecond = UInt64(ticks / seconds)
    }

    package func ticks(nanoseconds: UInt64) -> UInt64 {
        let (high, low) = nanoseconds.multipliedFullWidth(by: ticksPerSecond)
        let second: UInt64 = 1_000_000_000
        return high < second ? second.dividingFullWidth((high, low)).quotient : UInt64.max
    }

    /// Rounded down.
    package func nanoseconds(ticks: UInt64) -> UInt64 {
        let (high, low) = ticks.multipliedFullWidth(by: 1_000_000_000)
        return high < ticksPerSecond ? ticksPerSecond.dividingFullWidth((high, low)).quotient : .max
    }

    /// This moment on both clocks.
    package var moment: Moment { Self.now(kind) }

    /// This moment, in ticks.
    package var now: UInt64 { Self.now(kind).ticks }

    /// This moment, in ticks of a session that counts by the processor's counter, or in ns of CLOCK_MONOTONIC.
    static func ticks(byCounter: Bool) -> UInt64 { byCounter ? fathom_counter() : SystemClock.monotonic }

    /// This moment by the processor's counter and in ns of CLOCK_MONOTONIC.
    static var pair: Moment { now(UInt8(FATHOM_CLOCK_COUNTER)) }

    /// The closest of a few pairs of readings.
    private static func now(_ kind: UInt8) -> Moment {
        guard kind == UInt8(FATHOM_CLOCK_COUNTER) else {
            let nanoseconds = SystemClock.monotonic
            return Moment(ticks: nanoseconds, nanoseconds: nanoseconds)
        }
        var best = Moment(ticks: 0, nanoseconds: 0), width = UInt64.max
        for _ in 0..<5 {
            let before = fathom_counter()
            let nanoseconds = SystemClock.monotonic
            let after = fathom_counter()
            guard after &- before < width else { continue }
            width = after &- before
            best = Moment(ticks: before + width / 2, nanoseconds: nanoseconds)
        }
        return best
    }

    /// When it was `nanoseconds` of CLOCK_MONOTONIC, at most; by the closest of a few pairs of readings.
    private static func realtime(at nanoseconds: UInt64) -> UInt64 {
        var best: UInt64 = 0, width = UInt64.max
        for _ in 0..<5 {
            let before = SystemClock.monotonic, realtime = SystemClock.realtime, after = SystemClock.monotonic
            guard after &- before < width else { continue }
            width = after &- before
            best = realtime &- (after &- nanoseconds)
        }
        return best
    }

    /// Whether the counter can be the clock. It can if it is invariant and the kernel trusts it, which is so when the
    /// kernel keeps time by it, or by a hypervisor's clock that is derived from it.
    package static func counterIsTrusted() -> Bool {
        guard fathom_counter_is_invariant() != 0 else { return false }
        #if arch(x86_64)
            let source = SystemFile.firstLine(of: "/sys/devices/system/clocksource/clocksource0/current_clocksource")
            return ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"].contains(source)
        #else
            return true
        #endif
    }
}
