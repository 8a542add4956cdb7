internal import Glibc
internal import TraceSystem
internal import TraceText

/// The program being recorded: a child with our terminal, descriptors, working directory and signal mask.
struct Target {
    let pid: pid_t

    /// Signals that are sent to `fathom record` and meant for the program.
    private static let forwarded = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGPIPE,
    ]

    /// What the program is to inherit of signals, as it would without us.
    struct InheritedSignals {
        fileprivate var mask = sigset_t()
        /// Signals that are ignored here, but not there.
        fileprivate var reset = sigset_t()
    }

    /// Blocks the signals that ``wait()`` answers, and ignores the one of the file size limit, which must not end the
    /// recording.
    ///
    /// - Parameter ours: another signal that is answered.
    static func prepareSignals(and ours: Int32? = nil) -> InheritedSignals {
        var signals = InheritedSignals()
        var waited = waitedSignals()
        if let ours { sigaddset(&waited, ours) }
        pthread_sigmask(SIG_BLOCK, &waited, &signals.mask)
        sigemptyset(&signals.reset)
        signal(SIGCHLD, SIG_DFL)  // ignored, the kernel would reap the program without a word
        // A program that is to ignore it still does. A handler of ours would not have been passed on.
        let (previous, ignored) = (signal(SIGXFSZ, SIG_IGN), SIG_IGN)
        if unsafeBitCast(previous, to: Int.self) != unsafeBitCast(ignored, to: Int.self) {
            sigaddset(&signals.reset, SIGXFSZ)
        }
        return signals
    }

    private static func waitedSignals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGCHLD)
        for signal in forwarded { sigaddset(&set, signal) }
        return set
    }

    /// Which of our standard streams the program gets instead of /dev/null.
    enum Streams { case all, silent, none }

    /// - Throws: ``RecordingError/cannotStart(path:errno:)``.
    init(
        starting path: String, arguments: [UnsafeMutablePointer<CChar>?], environment: [UnsafeMutablePointer<CChar>?],
        signals: InheritedSignals, streams: Streams = .all
    ) throws(RecordingError) {
        let output: ChildProgram.Stream = streams == .all ? .inherited : .nothing
        var program = ChildProgram(input: streams == .none ? .nothing : .inherited, output: output, errors: output)
        program.blockedSignals = signals.mask
        program.defaultSignals = signals.reset
        do throws(SystemError) { pid = try program.start(path, arguments + [nil], environment + [nil]) } catch {
            throw .cannotStart(path: path, errno: error.errno)
        }
    }

    /// Waits for the program's end, passing signals on. What stops the program from the terminal stops us as well.
    ///
    /// - Parameters:
    ///   - ours: a signal that is not passed on.
    ///   - onOurs: is called when that comes.
    /// - Returns: Its status as wait(2) gives it.
    func wait(keeping ours: Int32? = nil, onOurs: () -> Void = {}) -> Int32 {
        var waited = Self.waitedSignals()
        if let ours { sigaddset(&waited, ours) }
        while true {
            if let status = poll() { return status }
            var info = siginfo_t()
            let signal = sigwaitinfo(&waited, &info)
            if signal > 0, signal == ours {
                onOurs()
                continue
            }
            // The program also got what the terminal sent. Only what a process sent needs to be passed on.
            if signal > 0 && signal != SIGCHLD && info.si_code <= 0 { kill(pid, signal) }
        }
    }

    private func poll() -> Int32? {
        var status: Int32 = 0
        while true {
            // Another thread of ours may be tracing the program: its stops are for that one.
            var info = siginfo_t()
            if waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0,
                ![CLD_EXITED, CLD_KILLED, CLD_DUMPED].contains(Int(info.si_code))
            {
                return nil
            }
            let result = waitpid(pid, &status, WNOHANG)
            if result < 0 && errno == EINTR { continue }
            if result < 0 { return 127 << 8 }
            return result == 0 ? nil : status
        }
    }
}
