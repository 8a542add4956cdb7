internal import ArgumentParser
internal import Glibc
internal import TraceQuery
internal import TraceText

/// What is said on standard error.
enum Diagnostics {
    /// Says one line.
    static func say(_ text: String) { put("fathom: \(text.visible)\n") }

    static func warn(_ text: String) { say("warning: \(text)") }

    static func warn(_ warnings: [String]) { warnings.forEach(warn) }

    /// Says on a terminal how far reading is, and at once what is wrong.
    static func listener() -> QueryListener {
        var progress = ProgressLine("reading")
        return QueryListener(warn: { warn($0) }, progress: { progress.show($0) })
    }

    /// Exit status when nothing could be read.
    static let unreadable = ExitCode(2)

    /// What ends the command when `error` is thrown: of a question without an answer the reason is said.
    static func ended(by error: any Error) -> any Error {
        guard let error = error as? QueryError else { return error }
        let status: ExitCode
        switch error {
        case .partIsUncorrected:
            return ValidationError("--corrected is for the whole recording, without --from and --to")
        case .unreadable:
            say("error: \(error)")
            return unreadable
        case .givenTwice:
            say("error: \(error)")
            return ExitCode.validationFailure
        case .noCalls(isDamaged: true): status = unreadable
        case .noThread, .noFunction, .nothingLeft, .noCalls, .noBaseline: status = .failure
        }
        say(error.description)
        return status
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
