internal import CThreadStop
internal import Glibc

/// Stopping a thread of another process.
package enum ThreadStop {
    package enum Failure: Error, Equatable {
        /// The right to is missing, or another process, such as a debugger, is attached already.
        case refused
        /// It has ended.
        case gone
    }

    /// Asks a thread to stop. The calling thread of this process is the one that has to wait for that.
    package static func ask(_ tid: Int32, in pid: Int32) throws(Failure) {
        if fathom_stop_begin(tid) == 0 { return }
        // The kernel also denies what has ended and is still listed, or is about to end.
        if errno == ESRCH || TaskFacts(pid, thread: tid).map({ $0.hasEnded || $0.isEnding }) ?? true { throw .gone }
        throw .refused
    }
}
