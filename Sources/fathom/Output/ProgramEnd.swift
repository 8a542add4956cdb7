internal import Glibc
internal import TraceRecording

/// How a command ends that has run a program.
enum ProgramEnd {
    /// Ends as the program ended: with its status, or by its signal.
    static func end(as status: TargetStatus) -> Never {
        switch status {
        case .exited(let code): Glibc.exit(code)
        case .signaled(let number):
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)  // the program has dumped core already, if it was to
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            signal(number, SIG_DFL)
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, number)
            kill(getpid(), number)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            Glibc.exit(128 + number)
        }
    }
}
