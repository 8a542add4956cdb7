internal import Glibc
internal import TraceSystem
internal import TraceText

/// The terminal or file that a command's result goes to.
enum StandardOutput {
    /// Why the last write failed; 0 when none did.
    nonisolated(unsafe) private static var failure: Int32 = 0

    /// The pager that shows it, once there is something to show.
    nonisolated(unsafe) private static var pager: Pager?

    /// Whether the terminal is the pager's, and nothing else is to be written to it.
    static var isPaged: Bool { pager != nil }

    /// A writer onto standard output. It closes when a write fails; ``finish(_:)`` tells why.
    ///
    /// - Parameter isPaged: a pager shows it. It starts with the first bytes, so that what is wrong before is said plainly.
    static func writer(isPaged: Bool = false) -> ByteWriter {
        signal(SIGPIPE, SIG_IGN)
        let isTerminal = isatty(STDOUT_FILENO) == 1
        var isPaged = isPaged
        return ByteWriter { bytes in
            if isTerminal { ProgressLine.giveWay() }
            if isPaged {
                isPaged = false
                pager = Pager.start()
            }
            let error = writeAll(bytes, to: pager?.input ?? STDOUT_FILENO)
            if error != 0 { failure = error }
            return error == 0
        }
    }

    /// Writes what is left, and waits until the reader has left the pager. A reader that has gone is no failure.
    static func finish(_ writer: ByteWriter) throws {
        writer.flush()
        leavePager()
        guard failure != 0, failure != EPIPE else { return }
        throw Diagnostics.fail("standard output: \(String(cString: strerror(failure)))", .failed)
    }

    /// Waits until the reader has left the pager; then says what was to be said meanwhile.
    static func leavePager() {
        pager?.finish()
        pager = nil
        Diagnostics.sayHeld()
    }
}
