package import CThreadStop
internal import Glibc

/// A system call of another process's thread that a stop has ended early, with EINTR, although no handler has run.
package enum InterruptedCall {
    /// Lets the call begin again, unless a signal's handler runs first, which ends it. The kernel does so by itself after
    /// calls that a stop does not end (signal(7)). A time limit then begins anew.
    ///
    /// - Parameter stopped: what the thread was about when it stopped.
    package static func mend(_ stopped: fathom_stopped, _ tid: Int32) {
        guard stopped.result == -Int64(EINTR), SystemCalls.mayBeginAgain(Int(stopped.system_call)) else { return }
        _ = fathom_stopped_decide(tid)
    }
}
