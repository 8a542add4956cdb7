internal import CTraceFormat
internal import Glibc

/// This moment by the kernel's clocks, whatever a preloaded library shows this program. O(1); neither allocates nor fails.
public enum SystemClock {
    /// In ns of CLOCK_MONOTONIC, by which recordings count.
    public static var monotonic: UInt64 { fathom_clock_time(CLOCK_MONOTONIC) }

    /// In ns since 1970 (CLOCK_REALTIME).
    public static var realtime: UInt64 { fathom_clock_time(CLOCK_REALTIME) }

    /// In ns since the system was started, with the time that it slept (CLOCK_BOOTTIME).
    public static var sinceBoot: UInt64 { fathom_clock_time(CLOCK_BOOTTIME) }
}
