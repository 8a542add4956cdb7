internal import ArgumentParser
internal import Glibc
internal import TraceFormat
internal import TraceReports
internal import TraceText

/// The terminal or file that a command's result goes to.
enum StandardOutput {
    /// Why the last write failed; 0 when none did.
    nonisolated(unsafe) private static var failure: Int32 = 0

    /// A writer onto standard output. It closes when a write fails; ``finish(_:)`` tells why.
    static func writer() -> ByteWriter {
        signal(SIGPIPE, SIG_IGN)
        return ByteWriter { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let written = write(STDOUT_FILENO, start, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    failure = written < 0 ? errno : EIO
                    return false
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return true
        }
    }

    /// Writes what is left. That nobody reads any more is no failure.
    static func finish(_ writer: ByteWriter) throws {
        writer.flush()
        guard failure != 0, failure != EPIPE else { return }
        throw Diagnostics.fail("standard output: \(String(cString: strerror(failure)))", status: 1)
    }

    /// Whether marks may be coloured (https://no-color.org).
    static var hasColour: Bool {
        let noColour = getenv("NO_COLOR")
        return isatty(STDOUT_FILENO) == 1 && (noColour == nil || noColour!.pointee == 0)
    }
}

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
