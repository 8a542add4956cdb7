internal import Glibc
internal import TraceSystem

/// When a process was started, in ns of CLOCK_REALTIME, not too late, and too early by a hundredth of a second as a rule; nil when that
/// is not known.
package func processStart(_ pid: Int32) -> UInt64? {
    // The line is: pid (name) state ... The name can hold anything, so the last parenthesis counts; the start is the 22nd field, in
    // ticks since the machine was started (proc_pid_stat(5)).
    let line = SystemFile.firstLine(of: "/proc/\(pid)/stat")
    guard let end = line.lastIndex(of: ")") else { return nil }
    let fields = line[end...].split(separator: " ")
    guard fields.count > 20, let ticks = UInt64(fields[20]), case let rate = sysconf(Int32(_SC_CLK_TCK)), rate > 0
    else {
        return nil
    }
    let sinceBoot = ticks * (1_000_000_000 / UInt64(rate))
    let (now, age) = (SystemClock.realtime, SystemClock.sinceBoot)
    return now >= age ? now - age + sinceBoot : nil
}
