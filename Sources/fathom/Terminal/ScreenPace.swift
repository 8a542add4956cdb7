internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Says when to draw again how far something is, which is told much more often.
struct ScreenPace {
    private var next: UInt64 = 0

    /// Whether a tenth of a second has gone by since it was last so.
    mutating func isDue() -> Bool {
        let now = SystemClock.monotonic
        guard now >= next else { return false }
        next = now &+ 100_000_000
        return true
    }
}
