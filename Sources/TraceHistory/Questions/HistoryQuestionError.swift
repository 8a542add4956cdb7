public import TraceAnalysis
public import TraceText

/// Why a question about a history has no answer.
public enum HistoryQuestionError: Error, CustomStringConvertible {
    case history(HistoryError)
    case selection(RunSelection.Refusal)
    case pattern(Pattern.InvalidPattern)
    case noFunction(String, near: NearNames)
    case severalFunctions(String, [String])
    case noPath(String)
    case noEvent(String, near: NearNames)
    case notOf(metric: HistoryMetric, subject: String)

    /// What kept a question from its answer: an error of the history, or of the question itself.
    init(_ error: any Error) {
        switch error {
        case let error as HistoryError: self = .history(error)
        case let error as HistoryQuestionError: self = error
        default: preconditionFailure("nothing else is thrown: \(error)")
        }
    }

    public var description: String {
        switch self {
        case .history(let error): "\(error)"
        case .selection(let refusal): "\(refusal)"
        case .pattern(let invalid): "\(invalid)"
        case .noFunction(let name, let near): "no run called a function that matches '\(name)'\(near.question)"
        case .severalFunctions(let name, let names):
            "'\(name)' matches \(names.count) functions; name one: \(names.prefix(5).joined(separator: ", "))"
                + (names.count > 5 ? ", …" : "")
        case .noPath(let path): "no run has the call path \(path)"
        case .noEvent(let name, let near): "no run has a \(name)\(near.question)"
        case .notOf(let metric, let subject):
            "there is no \(metric.rawValue) of '\(subject)': it is of functions and paths"
        }
    }
}
