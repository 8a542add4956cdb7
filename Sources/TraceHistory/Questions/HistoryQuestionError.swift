public import TraceAnalysis
public import TraceText

/// Why a question about a history has no answer.
public enum HistoryQuestionError: Error, CustomStringConvertible {
    case history(HistoryError)
    case selection(RunSelection.Refusal)
    case pattern(Pattern.InvalidPattern)
    case noFunction(String, near: NearNames)
    case severalFunctions(String, [String])
    case noPath(String, near: NearNames)
    case noEvent(String, near: NearNames)
    case noMeasure(RunMeasure, near: NearNames)
    case notOf(metric: HistoryMetric, subject: String)

    /// - Parameter functions: the names of those that there are.
    static func noFunction(_ name: String, among functions: [String]) -> HistoryQuestionError {
        .noFunction(name, near: NearNames(to: name, among: functions) { [Pattern.glob(of: $0)[...]] })
    }

    static func noMark(_ name: String, among marks: [String]) -> HistoryQuestionError {
        .noEvent("mark '\(name)'", near: NearNames(to: name, among: marks))
    }

    static func noCounter(_ name: String, among counters: [String]) -> HistoryQuestionError {
        .noEvent("counter '\(name)'", near: NearNames(to: name, among: counters))
    }

    static func noMeasure(_ measure: RunMeasure, among others: [String]) -> HistoryQuestionError {
        .noMeasure(measure, near: NearNames(to: measure.title, among: others))
    }

    /// The first function of the path that there is not may be misspelt.
    static func noPath(_ names: [String], among functions: [String]) -> HistoryQuestionError {
        let unknown = names.first { name in
            !functions.contains { (try? Pattern(unqualified: name))?.matches($0) ?? false }
        }
        let near = unknown.map { NearNames(to: $0, among: functions) { [Pattern.glob(of: $0)[...]] } }
        return .noPath(names.joined(separator: " → "), near: near ?? .none)
    }

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
        case .noPath(let path, let near): "no run has the call path \(path)\(near.question)"
        case .noEvent(let name, let near): "no run has a \(name)\(near.question)"
        case .noMeasure(let measure, let near):
            switch measure {
            case .processorTime: "no run has its CPU time: fathom record keeps it of programs that it starts"
            case .instructions: "no run has its instructions: they take a counter of the processor"
            case .allocations: "no run has its allocations: fathom record --memory records them"
            case .phase, .initializer:
                "no run has '\(measure.title)'\(near.question)\(near.question.isEmpty ? ": fathom record --startup records starts" : "")"
            }
        case .notOf(let metric, let subject):
            "there is no \(metric.rawValue) of '\(subject)': it is of functions and paths"
        }
    }
}

extension Pattern {
    /// Reads the pattern of a question.
    ///
    /// - Parameter isWhole: whether a name is a whole one, and not the end of another.
    init(asked text: String, isWhole: Bool = false) throws(HistoryQuestionError) {
        do throws(Pattern.InvalidPattern) { self = isWhole ? try Pattern(unqualified: text) : try Pattern(text) } catch
        { throw .pattern(error) }
    }

    /// What is asked for of things with names: of several names that end alike, the one that is asked for as a whole is meant.
    func meant<Named>(_ all: some Sequence<Named>, _ name: (Named) -> String) -> [Named] {
        let matching = all.filter { matches(name($0)) }
        let whole = matching.filter { longerName(of: name($0)) == nil }
        return whole.isEmpty ? matching : whole
    }
}
