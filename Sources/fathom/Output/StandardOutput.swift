internal import Glibc
internal import TraceText

/// The terminal or file that a command's result goes to.
enum StandardOutput {
    /// Why the last write failed; 0 when none did.
    nonisolated(unsafe) private static var failure: Int32 = 0

    /// A writer onto standard output. It closes when a write fails; ``finish(_:)`` tells why.
    static func writer() -> ByteWriter {
        signal(SIGPIPE, SIG_IGN)
        let isTerminal = isatty(STDOUT_FILENO) == 1
        return ByteWriter { bytes in
            if isTerminal { ProgressLine.giveWay() }
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
        throw Diagnostics.fail("standard output: \(String(cString: strerror(failure)))", .failed)
    }

    /// Whether marks may be coloured (https://no-color.org).
    static var hasColour: Bool {
        let noColour = getenv("NO_COLOR")
        return isatty(STDOUT_FILENO) == 1 && (noColour == nil || noColour!.pointee == 0)
    }
}
