public import TraceAnalysis
public import TraceText

/// What a trend is of.
public enum HistorySubject: Sendable, Equatable {
    /// The whole run.
    case total
    /// When a mark was first set, since the run's start.
    case mark(String)
    /// The last value of a counter.
    case counter(String)
    /// A function, by a pattern that matches one.
    case function(String)
    /// A call path: functions from the root on.
    case path([String])

    /// Reads `total`, `mark first frame`, `counter bytes`, `main;parse;read`, or a function's name or pattern.
    public init(_ text: String) {
        func rest(behind word: String) -> String? {
            text.hasPrefix(word) && text.count > word.count ? String(text.dropFirst(word.count)) : nil
        }
        if text == "total" {
            self = .total
        } else if let name = rest(behind: "mark ") {
            self = .mark(name)
        } else if let name = rest(behind: "counter ") {
            self = .counter(name)
        } else if text.contains(";") {
            self = .path(text.split(separator: ";").map(String.init))
        } else {
            self = .function(text)
        }
    }

    /// As it is shown.
    public var title: String {
        switch self {
        case .total: "total"
        case .mark(let name): "mark \(name)"
        case .counter(let name): "counter \(name)"
        case .function(let name): name
        case .path(let names): names.joined(separator: " → ")
        }
    }
}

/// What of a function or path.
public enum HistoryMetric: String, CaseIterable, Sendable {
    case total
    case `self`
    case calls
    case average
    /// How long single calls took.
    case call
    /// The part of the total in which threads waited.
    case blocked

    var isTime: Bool { self != .calls }
}

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

extension HistorySubject {
    /// The time that it has in one run, in ns; nil when the run does not have it. A path or function that is not called takes no time.
    public func time(in content: RunContent, total: UInt64) throws(HistoryQuestionError) -> Double? {
        switch self {
        case .total: return Double(total)
        case .mark(let name): return content.events.marks[name].map { Double($0.first) }
        case .counter(let name): return content.events.counters[name]?.value
        case .function(let name):
            let pattern: Pattern
            do throws(Pattern.InvalidPattern) { pattern = try Pattern(name) } catch { throw .pattern(error) }
            let matching = content.functions.filter { pattern.matches($0.identity.name) }
            let names = Set(matching.map(\.identity.name))
            guard names.count <= 1 else { throw .severalFunctions(name, names.sorted()) }
            return Double((matching.first { $0.identity.module == "" } ?? matching.first)?.sums.total ?? 0)
        case .path(let names):
            var depths: [Int] = []
            for path in content.paths {
                let caller = path.caller < 0 ? 0 : depths[path.caller]
                let isNext =
                    caller >= 0 && caller < names.count
                    && Pattern(exactly: names[caller]).matches(content.functions[path.function].identity.name)
                depths.append(isNext ? caller + 1 : -1)
                if isNext, caller + 1 == names.count { return Double(path.sums.total) }
            }
            return 0
        }
    }
}
