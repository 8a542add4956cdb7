internal import CNcurses
internal import Glibc

/// Gives the terminal back as it was when a signal ends the program, also that of a crash.
///
/// A handler may call little: it writes what terminfo says that the terminal needs, which was looked up before, and sets the
/// modes that were there before. Then the signal does what it does otherwise.
enum TerminalRescue {
    nonisolated(unsafe) private static var text: UnsafeMutablePointer<CChar>?
    nonisolated(unsafe) private static var size = 0
    nonisolated(unsafe) private static var modes = termios()
    nonisolated(unsafe) private static var isArmed = false

    private static let signals = [
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS, SIGXCPU, SIGPIPE,
    ]

    /// Notes how the terminal is. Call before it is taken.
    static func remember() { _ = tcgetattr(STDOUT_FILENO, &modes) }

    /// Restores the terminal when a signal ends the process. Call when the terminal has been taken.
    static func arm() {
        if text == nil {
            // To leave the screen, to show the cursor, to end all styles, and to make the keys what they were.
            let parts = ["rmcup", "cnorm", "sgr0", "rmkx"].compactMap { name -> String? in
                guard let found = tigetstr(name), Int(bitPattern: found) != -1 else { return nil }
                return String(cString: found)
            }
            text = strdup(parts.joined())
            size = strlen(text!)
        }
        isArmed = true
        useStackOfItsOwn()
        for number in signals {
            var action = sigaction()
            sigaction(number, nil, &action)
            // A signal that was ignored is still to be.
            if unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                TerminalRescue.restore()
                signal(number, SIG_DFL)
                raise(number)
            }
            action.sa_flags = SA_ONSTACK | Int32(bitPattern: UInt32(SA_NODEFER))
            sigaction(number, &action, nil)
        }
    }

    /// Signals do again what they do otherwise.
    static func disarm() {
        guard isArmed else { return }
        isArmed = false
        for number in signals {
            var action = sigaction()
            sigaction(number, nil, &action)
            if unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != 1 { signal(number, SIG_DFL) }
        }
    }

    private static func restore() {
        guard isArmed else { return }
        if let text { _ = write(STDOUT_FILENO, text, size) }
        tcsetattr(STDOUT_FILENO, TCSANOW, &modes)
    }

    /// A crash may be that there is no stack left.
    private static func useStackOfItsOwn() {
        let size = 64 << 10
        var stack = stack_t()
        sigaltstack(nil, &stack)
        guard stack.ss_sp == nil, let memory = malloc(size) else { return }
        stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
        sigaltstack(&stack, nil)
    }
}
