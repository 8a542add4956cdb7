public import TraceFile
public import TraceText

/// Why a question about a session has no answer.
public enum QueryError: Error, Equatable, CustomStringConvertible {
    /// The session cannot be read.
    case unreadable(TraceFileError)
    /// No thread is one of those that were asked for.
    case noThread([String], near: NearNames)
    /// No process is one of those that were asked for.
    case noProcess([String], near: NearNames)
    /// No function has the name that was asked for.
    case noFunction(String, near: NearNames)
    /// No function that was looked at is defined in such a file or folder.
    case noPlace(String, near: NearNames)
    /// The functions of a module are not known, for this reason.
    case noSymbols(String)
    /// No module with hooks has the name that was asked for, or none has hooks at all.
    case noModule(String?)
    /// The filters leave no call. There are near names if one of theirs matches no function that was looked at.
    case nothingLeft(near: NearNames)
    /// Nothing that was recorded called the functions.
    case noCallers(String)
    /// The functions called nothing that was recorded.
    case noCallees(String)
    /// No call of the function both began and ended in the recording.
    case noWholeCall(String)
    /// Calls of the function were recorded without that argument.
    case noArgument(String, String, near: NearNames)
    /// The function has so few calls that the slowest have none to be compared with.
    case tooFewCalls(String, UInt64)
    /// There are no calls; damage may be why.
    case noCalls(isDamaged: Bool)
    /// The session has no baseline to correct its times by.
    case noBaseline(session: String)
    /// Only the times of all of a recording can be corrected.
    case partIsUncorrected
    /// A view shows what the session does not keep.
    case notKept(session: String, content: SessionContent, view: String, advice: String)
    /// It is not known when threads had no CPU, perhaps because the kernel refused to tell.
    case notSplit(session: String, refusal: String?)
    /// It is known when threads waited, and not for what.
    case noCauses(session: String)
    /// It was not recorded what memory was allocated.
    case noMemory(session: String)
    /// The kernel did not tell of page faults, perhaps because it refused to.
    case noFaults(session: String, refusal: String?)
    /// No call is known to have waited.
    case noWaits(session: String)
    /// The thread has no calls in the time that was asked for.
    case noCallsThen
    /// The session is not complete yet.
    case stillRecorded(session: String)
    /// A session is given more than once where each is to be evidence of its own.
    case givenTwice(session: String)

    public var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .noThread(let names, let near):
            "no thread is selected by \(names.joined(separator: ", "))\(near.question)"
        case .noProcess(let names, let near):
            "no process is selected by \(names.joined(separator: ", "))\(near.question)"
        case .noFunction(let pattern, let near): "no function matches '\(pattern)'\(near.question)"
        case .noPlace(let place, let near):
            "no function that was looked at is defined in '\(place)'\(near.question)"
        case .noSymbols(let problem): problem
        case .noModule(let pattern):
            pattern.map { "no module with hooks matches '\($0)'" } ?? "no module that the program loaded has hooks"
        case .nothingLeft(let near): "no calls are left by the filters\(near.question)"
        case .noCallers(let pattern): "nothing that was recorded called '\(pattern)'"
        case .noCallees(let pattern): "'\(pattern)' called nothing that was recorded"
        case .noWholeCall(let pattern): "no call of '\(pattern)' both began and ended while it was recorded"
        case .noArgument(let pattern, let name, let near):
            "no call of '\(pattern)' has an argument '\(name)'"
                + (near == .none ? ": fathom record --args '\(pattern):\(name)'" : near.question)
        case .tooFewCalls(let pattern, let calls):
            "too few calls to compare the slowest with others: '\(pattern)' has \(calls)"
        case .stillRecorded(let session): "\(session) is still being recorded: pack it when that has ended"
        case .noCalls: "the recording has no calls"
        case .noBaseline(let session): "\(session): has no baseline to correct by: fathom record --baseline"
        case .partIsUncorrected: "only the times of a whole recording can be corrected"
        case .notKept(let session, let content, let view, let advice):
            "\(session) keeps \(QueryError.text(content)), and "
                + "\(view): \(advice)"
        case .notSplit(let session, let refusal):
            "\(session) does not tell when threads waited: "
                + (refusal ?? "fathom record --blocked records it")
        case .noCauses(let session):
            "\(session) tells when threads waited, and not for what: fathom record --blocked records that, too"
        case .noMemory(let session):
            "\(session) does not tell what memory was allocated: fathom record --memory records it"
        case .noFaults(let session, let refusal):
            "\(session) does not tell of page faults: " + (refusal ?? "fathom record --faults records them")
        case .noWaits(let session): "\(session): no call waited, as far as is known"
        case .noCallsThen: "the thread has no calls in that time"
        case .givenTwice(let session):
            "\(session) is given twice, which is no evidence of noise: record it again"
        }
    }

    private static func text(_ content: SessionContent) -> String {
        switch content {
        case .counts: "how often each call path was called"
        case .samples: "samples of the stacks"
        case .firstCalls: "the first call of each function"
        case .calls, .paths: "the sums of each call path"
        }
    }
}
