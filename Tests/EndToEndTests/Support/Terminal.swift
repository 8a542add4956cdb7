internal import Glibc
import TestSupport
import Testing

/// A terminal of a given size, in tmux, and a shell command that runs in it.
final class Terminal {
    private let directory: TemporaryDirectory

    /// - Parameter command: for `sh`. What stands on the terminal when it is through stays there.
    init(columns: Int, rows: Int, environment: [String: String] = [:], _ command: String) throws {
        directory = try TemporaryDirectory("terminal")
        try writeFile(
            Array("set -g status off\nset -g history-limit 100000\nset -g default-terminal screen-256color\n".utf8),
            to: directory.file("tmux.conf"))
        let (ending, status) = (directory.file("ending"), directory.file("status"))
        // The shell outlives a Ctrl-C that is for what it runs.
        let script = "trap : INT\n\(command)\nprintf '%s' $? >'\(ending)'\nmv '\(ending)' '\(status)'\nexec sleep 600\n"
        try writeFile(Array(script.utf8), to: directory.file("script"))
        // What the tests' own surroundings say about colours and pagers does not count.
        let unset = ["NO_COLOR", "PAGER", "FATHOM_PAGER", "LESS", "TMUX", "COLUMNS", "LINES"].flatMap { ["-u", $0] }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let started = try TestSupport.run(
            "env",
            unset + ["LC_ALL=C.UTF-8"] + variables
                + [
                    "tmux", "-u", "-S", directory.file("socket"), "-f", directory.file("tmux.conf"), "new-session",
                    "-d",
                    "-x", "\(columns)", "-y", "\(rows)", "sh '\(directory.file("script"))'",
                ])
        try #require(started.status == 0, Comment(rawValue: started.stderr))
    }

    deinit { _ = try? tmux(["kill-server"]) }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        try TestSupport.run(
            "tmux", ["-u", "-S", directory.file("socket")] + arguments, environment: ["LC_ALL": "C.UTF-8"]
        )
        .stdout
    }

    /// The command's exit status, once it is through.
    func status() throws -> Int32 {
        let isThrough = waitUntil(seconds: 300) { access(directory.file("status"), F_OK) == 0 }
        let shown = try screen()
        try #require(isThrough, "\(shown)")
        return try #require(Int32(String(decoding: try readFile(directory.file("status")), as: UTF8.self)))
    }

    /// The lines on the screen, without those that are empty at its end.
    func screen() throws -> [String] { try lines([]) }

    /// The lines that were written since the start.
    func all() throws -> [String] { try lines(["-S", "-"]) }

    /// The lines that were written since the start, each whole where the terminal has broken it.
    func unbroken() throws -> [String] { try lines(["-S", "-", "-J"]) }

    /// The bytes on the screen, colours included.
    func coloured() throws -> String { try tmux(["capture-pane", "-p", "-e"]) }

    /// Those lines that stand out as a whole, as the title and the current line do in `browse` and `top`, without styles.
    func highlighted() throws -> [String] {
        try coloured().split(separator: "\n").map(String.init).filter {
            $0.firstMatch(of: #/^\x1b\[(\d+;)*7(;\d+)*m/#) != nil
        }.map {
            var line = $0.replacing(#/\x1b\[[0-9;]*m|\x0f/#, with: "")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Gives the terminal another size.
    func resize(columns: Int, rows: Int) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Whether the terminal shows a whole screen instead of the lines that were written, and whether it shows its cursor.
    func modes() throws -> (isAlternate: Bool, hasCursor: Bool) {
        let flags = try tmux(["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).split(separator: " ")
        return (flags.first == "1", flags.last?.first == "1")
    }

    private func lines(_ options: [String]) throws -> [String] {
        var lines = try tmux(["capture-pane", "-p"] + options)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while let last = lines.last, last.allSatisfy({ $0 == " " }) { lines.removeLast() }
        return lines
    }

    /// Waits until the screen is as `condition` says. A condition that throws, because the screen has too few lines, is not met.
    func wait(_ condition: ([String]) throws -> Bool) throws {
        let isSo = waitUntil(seconds: 100) { (try? condition(screen())) ?? false }
        let shown = try screen()
        try #require(isSo, "\(shown)")
    }

    /// Types keys, as tmux names them.
    func type(_ keys: String...) throws { try tmux(["send-keys"] + keys) }
}
