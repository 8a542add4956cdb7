import Glibc

/// What the program knows of its own calls: of every call by a task when it began and ended, in the order these things
/// happened, and how much of it the task did not run.
///
/// One log a task, passed along: a task does one thing at a time.
final class Log: @unchecked Sendable {
    private struct Line {
        var depth: Int
        var name: String
        var enter: UInt64
        var exit: UInt64 = 0
        var waited: UInt64 = 0
    }

    private var depth = 0
    private var lines: [Line] = []

    @inline(__always) static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A call begins; returns what stands for it.
    @inline(__always) func enter(_ name: String) -> Int {
        lines.append(Line(depth: depth, name: name, enter: Self.now))
        depth += 1
        return lines.count - 1
    }

    @inline(__always) func leave(_ call: Int) {
        depth -= 1
        lines[call].exit = Self.now
    }

    /// `call` waited from `start` until now, but for calls that it made meanwhile.
    @inline(__always) func wait(_ call: Int, since start: UInt64) {
        var waited = Self.now - start
        for line in lines[(call + 1)...] where line.depth == depth && line.enter >= start {
            waited -= line.exit - line.enter
        }
        lines[call].waited += waited
    }

    /// The calls as `depth total waited name`, times in ns.
    var text: String {
        lines.map { "\($0.depth) \($0.exit - $0.enter) \($0.waited) \($0.name)\n" }.joined()
    }
}
