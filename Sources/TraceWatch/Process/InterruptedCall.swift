package import CThreadStop
internal import Glibc
internal import TraceFile

/// A system call of another process's thread that a stop has ended early, with EINTR, although no handler has run.
package enum InterruptedCall {
    /// Lets the call begin again, if the stop and nothing else has ended it. The kernel does so by itself after calls that a
    /// stop does not end (signal(7)).
    ///
    /// - Parameters:
    ///   - stopped: what the thread was about when it stopped.
    ///   - signal: what the thread was about to get when it stopped; 0 when nothing.
    /// - Returns: whether it begins again; then the program counter is that of the call's own instruction.
    package static func beginAgain(_ stopped: fathom_stopped, _ tid: Int32, in pid: Int32, about signal: Int32) -> Bool
    {
        guard signal == 0, stopped.result == -Int64(EINTR), SystemCalls.endsByStop(Int(stopped.system_call)),
            !hasSignal(tid, in: pid)
        else { return false }
        return fathom_stopped_begin_again(tid) == 0
    }

    /// Whether a signal waits for the thread that it does not block.
    private static func hasSignal(_ tid: Int32, in pid: Int32) -> Bool {
        var pending: UInt64 = 0, blocked: UInt64 = 0
        for line in SystemFile.lines(of: "/proc/\(pid)/task/\(tid)/status") {
            let fields = line.split(separator: ":")
            guard fields.count == 2, let value = UInt64(fields[1].drop { $0 == "\t" || $0 == " " }, radix: 16) else {
                continue
            }
            if fields[0] == "SigPnd" || fields[0] == "ShdPnd" { pending |= value }
            if fields[0] == "SigBlk" { blocked = value }
        }
        return pending & ~blocked != 0
    }
}
