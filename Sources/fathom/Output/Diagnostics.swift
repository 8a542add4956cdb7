internal import ArgumentParser
internal import Glibc
internal import TraceFile
internal import TraceFleet
internal import TraceHistory
internal import TraceQuery
internal import TraceRequest
internal import TraceSystem
internal import TraceText

/// What is said on standard error: `fathom: error: …` when that is why the command ends, `fathom: warning: …` when what
/// is shown may not be all, and `fathom: …` of how it went and what comes next.
enum Diagnostics {
    /// Says one line; on a terminal, in as many as it takes, broken between words.
    static func say(_ text: String) {
        let line = "fathom: \(text.visible)"
        let width = isatty(STDERR_FILENO) == 1 ? Screen.size(of: STDERR_FILENO)?.columns : nil
        let shown = (width.map { line.wrapped(to: $0) } ?? line) + "\n"
        if StandardOutput.isPaged || isTerminalTaken { held += shown } else { put(shown) }
    }

    /// Whether the command itself shows whole screens on the terminal.
    nonisolated(unsafe) static var isTerminalTaken = false

    /// What was said while somebody else had the terminal.
    nonisolated(unsafe) private static var held = ""

    static func sayHeld() {
        put(held)
        held = ""
    }

    static func warn(_ text: String) { say("warning: \(text)") }

    static func warn(_ warnings: [String]) { warnings.forEach(warn) }

    /// Says what a recording lacks that was shown, and whether it still grows.
    static func warn(_ warnings: [String], of session: Session) { warn(warnings, of: [session]) }

    static func warn(_ warnings: [String], of sessions: [Session]) {
        warn(warnings)
        for session in sessions where session.isRecording {
            say("\(session.path) is still being recorded: this is what it holds so far")
        }
    }

    /// Says on a terminal how far reading is, and at once what is wrong.
    static func listener() -> QueryListener {
        QueryListener(warn: { warn($0) }, progress: progress())
    }

    /// Says on a terminal how far reading is, or what else is done.
    static func progress(_ activity: String = "reading") -> (Double) -> Void {
        var line = ProgressLine(activity)
        return { line.show($0) }
    }

    /// The reason that was said last why the command ends.
    nonisolated(unsafe) private(set) static var lastError: String?

    /// Says why the command ends, and returns what ends it.
    static func fail(_ text: String, _ status: ExitStatus) -> ExitCode { fail(text, status: status.rawValue) }

    /// The same with a status of another table: that of shells, or of compilers.
    static func fail(_ text: String, status: Int32) -> ExitCode {
        say("error: \(text)")
        lastError = text
        return ExitCode(status)
    }

    /// What ends the command when `error` is thrown: of a question without an answer the reason is said.
    static func ended(by error: any Error) -> any Error {
        if let ended = ended(byOther: error) { return ended }
        guard let error = error as? QueryError else { return error }
        if error == .partIsUncorrected {
            return ValidationError("--corrected is for the whole recording, without --from and --to")
        }
        if error == .noCallsThen { return ValidationError(error.description) }
        let status: ExitStatus =
            switch error {
            case .partIsUncorrected, .noCallsThen, .givenTwice: .wrongUsage
            case .unreadable, .noSymbols, .noCalls(isDamaged: true), .stillRecorded: .failed
            case .noThread, .noProcess, .noModule, .noFunction, .noPlace, .nothingLeft, .noWholeCall, .tooFewCalls,
                .noArgument,
                .noCalls,
                .noBaseline, .noWaits, .notKept, .notSplit, .noCauses, .noMemory, .noFaults, .noCallers, .noCallees:
                .nothing
            }
        return fail(error.description, status)
    }

    /// The same of what is no question about a session; nil when the error is none of these.
    private static func ended(byOther error: any Error) -> ExitCode? {
        let status: ExitStatus
        switch error {
        case is Refusal: return fail("\(error)", status: 126)
        case HistoryQuestionError.pattern, HistoryQuestionError.severalFunctions, HistoryQuestionError.notOf,
            GateFailure.severalHistories:
            status = .wrongUsage
        case HistoryQuestionError.history: status = .failed
        case is HistoryQuestionError, FleetCollector.Failure.tooLarge: status = .nothing
        case is HistoryError, is GateFailure, is FleetCollector.Failure, is SystemError: status = .failed
        default: return nil
        }
        return fail("\(error)", status)
    }

    /// Writes `text` as it is.
    static func put(_ text: String) {
        var text = text
        text.withUTF8 { _ = writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}
