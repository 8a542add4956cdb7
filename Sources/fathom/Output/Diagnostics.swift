internal import ArgumentParser
internal import Glibc
internal import TraceFormat
internal import TraceText

/// What is said on standard error.
enum Diagnostics {
    /// Says one line.
    static func say(_ text: String) { put("fathom: \(text.visible)\n") }

    static func warn(_ text: String) { say("warning: \(text)") }

    static func warn(_ damage: DamageLog) {
        for entry in damage.entries { warn(entry.description) }
    }

    static func warn(_ losses: Losses) {
        if losses.calls > 0 { warn(losses.description) }
    }

    /// Exit status when nothing could be read.
    static let unreadable = ExitCode(2)

    static func fail(_ error: TraceFormatError) -> ExitCode {
        say("error: \(error)")
        return unreadable
    }

    /// A refusal that is to end the command with `status`.
    static func fail(_ text: String, status: Int32) -> ExitCode {
        say(text)
        return ExitCode(status)
    }

    /// Writes `text` as it is.
    static func put(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
