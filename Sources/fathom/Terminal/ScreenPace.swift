internal import Glibc

/// Says when to draw again how far something is, which is told much more often.
struct ScreenPace {
    private var next: UInt64 = 0

    /// Whether a tenth of a second has gone by since it was last so.
    mutating func isDue() -> Bool {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
        guard now >= next else { return false }
        next = now &+ 100_000_000
        return true
    }
}
