internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// Goes on recording in a process of its own when the program has ended but other processes of the session have not.
///
/// It is a daemon as they are: it has no terminal, and none of our caller's descriptors.
struct BackgroundRecorder {
    let pid: Int32

    /// What the child keeps of its caller's world.
    struct Kept {
        /// A signal that stays blocked, for `onLook` to find.
        var signal: Int32?
        /// Whether files are still to be made by names that the working directory belongs to.
        var directory = false
    }

    /// Forks; the child records, and calls `onLook` as ``Drain/run(while:onLook:)`` says, until nobody is left, runs
    /// `finish`, and exits. Nil when there can be no further process.
    ///
    /// This process has one thread when this is called, for the child has only that.
    init?(
        _ drain: Drain, _ buffers: SharedBuffers, _ answers: FunctionAnswers?, _ events: EventSources,
        _ sampler: StackSampler?, keeping kept: Kept, leave: () -> Never, onLook: () -> Void, finish: () -> Void
    ) {
        let child = fathom_fork()
        guard child != 0 else {
            Self.leaveCaller(keeping: kept)
            buffers.takeOver()
            answers?.start()
            events.startAgain()
            sampler?.start()
            var isInUse: Bool? = true
            drain.resume(
                while: {
                    isInUse = buffers.areInUse()
                    return isInUse == true
                }, onLook: onLook)
            if isInUse == false { finish() }
            leave()
        }
        guard child > 0 else { return nil }
        pid = child
    }

    private static func leaveCaller(keeping kept: Kept) {
        setsid()
        if !kept.directory { _ = chdir("/") }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        if let signal = kept.signal { sigaddset(&blocked, signal) }
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        // Descriptors that were passed to us have no close-on-exec flag, unlike those that we have opened.
        let passed = (0..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))).prefix(1 << 16).filter {
            let flags = fcntl($0, F_GETFD)
            return flags >= 0 && flags & FD_CLOEXEC == 0
        }
        for descriptor in passed { close(descriptor) }
        // Nothing that is opened later is to become a standard stream.
        for _ in 0..<3 { _ = open("/dev/null", O_RDWR) }
    }
}
