internal import Glibc

/// Says on a terminal how far a long task is, once it has taken a second; the line goes when the task is through.
struct ProgressLine {
    private let task: String
    private var start = ProgressLine.now()
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var shown: UInt64 = 0

    init(_ task: String) { self.task = task }

    /// - Parameter part: what is done of the task, 0...1.
    mutating func show(_ part: Double) {
        guard isTerminal else { return }
        let now = ProgressLine.now()
        if part >= 1 {
            if shown > 0 { Diagnostics.put("\r\u{1b}[K") }
            shown = 0
            // What comes next is another task.
            start = now
        } else if now &- start > 1_000_000_000, now &- shown > 100_000_000 {
            shown = now
            Diagnostics.put("\r\u{1b}[Kfathom: \(task), \(Int(part * 100)) %")
        }
    }

    /// ns of CLOCK_MONOTONIC.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
