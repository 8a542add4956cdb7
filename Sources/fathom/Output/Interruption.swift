internal import Glibc
internal import TraceFile

/// Lets a command end in good order when a signal asks it to.
enum Interruption {
    /// Calls `body`, on a thread of its own, when the first of these signals comes. The second one ends the program at once.
    ///
    /// Call this before other threads are made.
    static func whenever(_ signals: [Int32], _ body: @escaping @Sendable () -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let waited = set
        _ = BackgroundThread {
            var waited = waited, number: Int32 = 0
            sigwait(&waited, &number)
            body()
            pthread_sigmask(SIG_UNBLOCK, &waited, nil)
            while true { pause() }
        }
    }
}
