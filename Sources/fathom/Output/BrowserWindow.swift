internal import Glibc
internal import TraceSystem
internal import TraceText

/// A window of the user's web browser.
enum BrowserWindow {
    /// Shows a file in it. That there is no browser is said, and does no harm.
    ///
    /// The commands that BROWSER names are tried in their order, with the file behind each or, as in `lynx %s`, in place of `%s`;
    /// without that variable `xdg-open` is, which asks the desktop. Nobody waits for a browser that stays open.
    static func open(_ path: String) {
        guard let resolved = realpath(path, nil) else { return }
        defer { free(resolved) }
        if !shows(String(cString: resolved)) {
            Diagnostics.warn("no browser was opened, because \(reason); the page is \(CommandText.file(path))")
        }
    }

    /// Shows the page at an address, in the same way. It is for the caller to have told the address.
    static func open(address: String) {
        if !shows(address) { Diagnostics.say("no browser was opened, because \(reason)") }
    }

    private static func shows(_ place: String) -> Bool { commands.contains { shows(place, $0) } }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var hasDesktop: Bool { variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil }

    private static var commands: [String] {
        if let browsers = variable("BROWSER") { return browsers.split(separator: ":").map(String.init) }
        // Without a desktop it would look for a browser that takes the terminal.
        return hasDesktop ? ["xdg-open"] : []
    }

    private static var reason: String {
        if let browsers = variable("BROWSER") { return "$BROWSER, which is '\(browsers)', does not work" }
        return hasDesktop ? "xdg-open does not work" : "there is no desktop here, and no $BROWSER"
    }

    /// Runs a command of the shell's, and waits a second at most for it to fail.
    private static func shows(_ place: String, _ command: String) -> Bool {
        let words = command.contains("%s") ? command.replacing("%s", with: "\"$1\"") : command + " \"$1\""
        var browser = ChildProgram(input: .nothing, output: .nothing, errors: .nothing, restoring: [SIGPIPE])
        // What is typed to end this program is not for the browser.
        browser.hasOwnGroup = true
        browser.blockedSignals = sigset_t()
        guard let process = try? browser.start("/bin/sh", ["sh", "-c", "exec \(words)", "sh", place]) else {
            return false
        }
        var status: Int32 = 0
        for _ in 0..<100 {
            if waitpid(process, &status, WNOHANG) != 0 { return status == 0 }
            usleep(10_000)
        }
        return true
    }
}
