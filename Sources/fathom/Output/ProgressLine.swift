internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Says on a terminal how far a long task is, once it has taken a second; the line goes when the task is through.
struct ProgressLine {
    private let task: String
    private var start = SystemClock.monotonic
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var shown: UInt64 = 0
    /// Whether there is a line now.
    nonisolated(unsafe) private static var isShown = false
    /// Whether the result is being written to a terminal, whose lines it would come between.
    nonisolated(unsafe) private static var isOver = false

    /// Shows no line from now on, because the result begins to be written to a terminal.
    static func giveWay() {
        isOver = true
        clear()
    }

    private static func clear() {
        if isShown { Diagnostics.put("\r\u{1b}[K") }
        isShown = false
    }

    init(_ task: String) { self.task = task }

    /// - Parameter part: what is done of the task, 0...1.
    mutating func show(_ part: Double) {
        guard isTerminal, !ProgressLine.isOver, !StandardOutput.isPaged else { return }
        let now = SystemClock.monotonic
        if part >= 1 {
            ProgressLine.clear()
            // What comes next is another task.
            start = now
        } else if now &- start > 1_000_000_000, now &- shown > 100_000_000 {
            shown = now
            ProgressLine.isShown = true
            Diagnostics.put("\r\u{1b}[Kfathom: \(task), \(Int(part * 100)) %")
        }
    }

    /// ns of CLOCK_MONOTONIC.
}
