internal import Glibc
internal import TraceSystem

/// The program that shows long output page by page, chosen and called as git does it: FATHOM_PAGER, PAGER or `less`, by the
/// shell. Empty, or `cat`, is none.
struct Pager {
    /// What it reads.
    let input: Int32
    private let process: pid_t

    /// The pager that is running, for the handler of signals; 0 for none.
    nonisolated(unsafe) private static var running: pid_t = 0

    /// Starts it.
    ///
    /// - Returns: nil when there is none, or when it cannot be started.
    static func start() -> Pager? {
        guard let command = command else { return nil }
        // What git sets: to end when everything is on the screen, to show colours, and to leave the screen as it is.
        setenv("LESS", "FRX", 0)
        setenv("LV", "-c", 0)
        // What is shown is UTF-8, whatever the locale.
        setenv("LESSCHARSET", "utf-8", 0)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let pager = ChildProgram(input: .descriptor(ends[0]), restoring: [SIGPIPE])
        guard let process = try? pager.start("/bin/sh", ["sh", "-c", command]) else {
            close(ends[1])
            return nil
        }
        running = process
        // Ctrl-C is for the pager as long as it is there.
        signal(SIGINT) { number in
            guard waitpid(Pager.running, nil, WNOHANG) != 0 else { return }
            signal(number, SIG_DFL)
            raise(number)
        }
        return Pager(input: ends[1], process: process)
    }

    /// Ends its input, and waits until the reader has left it.
    func finish() {
        close(input)
        _ = try? ChildProgram.wait(for: process)
        signal(SIGINT, SIG_DFL)
        Pager.running = 0
    }

    private static var command: String? {
        if let chosen = getenv("FATHOM_PAGER") ?? getenv("PAGER") {
            let command = String(cString: chosen)
            if command.isEmpty || command == "cat" { return nil }
            if let missing = missingProgram(of: command) {
                Diagnostics.warn("there is no pager '\(missing)' (FATHOM_PAGER, PAGER): showing without one")
                return nil
            }
            return command == "less" ? less : command
        }
        return isInstalled("less") ? less : nil
    }

    /// Shows colours also for those whose LESS does not say so.
    private static let less = "less -R"

    /// The program that a plain command begins with, if it is not there. Of what only a shell understands nothing is known.
    private static func missingProgram(of command: String) -> String? {
        guard let word = command.split(separator: " ").first.map(String.init), !["command", "exec"].contains(word),
            word.wholeMatch(of: #/[A-Za-z0-9_.+\/-]+/#) != nil
        else { return nil }
        return (word.contains("/") ? access(word, X_OK) == 0 : isInstalled(word)) ? nil : word
    }

    private static func isInstalled(_ program: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
