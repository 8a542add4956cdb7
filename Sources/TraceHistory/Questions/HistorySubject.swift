internal import TraceAnalysis

/// What a trend is of.
public enum HistorySubject: Sendable, Equatable {
    /// The whole run.
    case total
    /// When a mark was first set, since the run's start.
    case mark(String)
    /// The last value of a counter.
    case counter(String)
    /// A number of the run as a whole, or of its start.
    case measure(RunMeasure)
    /// A function, by a pattern that matches one.
    case function(String)
    /// A call path: functions from the root on.
    case path([String])

    /// Reads `total`, `mark first frame`, `counter bytes`, a ``RunMeasure/title``, `main;parse;read`, or a function's name or pattern.
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
        } else if let measure = RunMeasure(title: text) {
            self = .measure(measure)
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
        case .measure(let measure): measure.title
        case .function(let name): name
        case .path(let names): names.joined(separator: " → ")
        }
    }
}

extension HistorySubject {
    /// Makes sure that one of the runs has it.
    public func require(in contents: [RunContent]) throws(HistoryQuestionError) {
        func names() -> [String] { contents.flatMap { $0.functions.map(\.identity.name) } }
        switch self {
        case .total: return
        case .mark(let name):
            if contents.contains(where: { $0.events.marks[name] != nil }) { return }
            throw .noMark(name, among: contents.flatMap(\.events.marks.keys))
        case .counter(let name):
            if contents.contains(where: { $0.events.counters[name] != nil }) { return }
            throw .noCounter(name, among: contents.flatMap(\.events.counters.keys))
        case .measure(let measure): _ = try measure.found(among: contents.flatMap { $0.measures.map(\.measure) })
        case .function(let name):
            let pattern = try Pattern(asked: name)
            if !names().contains(where: { pattern.matches($0) }) { throw .noFunction(name, among: names()) }
        case .path(let path):
            for content in contents where try HistorySubject.path(path, in: content) != nil { return }
            throw .noPath(path, among: names())
        }
    }

    /// The path whose functions `names` match, from the root on.
    private static func path(
        _ names: [String], in content: RunContent
    ) throws(HistoryQuestionError) -> RunContent.Path? {
        try PathPattern(names).firstIndex(in: content.paths, caller: \.caller) {
            content.functions[$0.function].identity.name
        }.map { content.paths[$0] }
    }

    /// Whether its numbers are times, in ns.
    public var isTime: Bool {
        switch self {
        case .counter: false
        case .measure(let measure): measure.isTime
        case .total, .mark, .function, .path: true
        }
    }

    /// The time that it has in one run, in ns, or its number; nil when the run does not have it. A path or function that is not called
    /// takes no time.
    public func time(in content: RunContent, total: UInt64) throws(HistoryQuestionError) -> Double? {
        switch self {
        case .total: return Double(total)
        case .mark(let name): return content.events.marks[name].map { Double($0.first) }
        case .counter(let name): return content.events.counters[name]?.value
        case .measure(let asked):
            guard let measure = try? asked.found(among: content.measures.map(\.measure)) else { return nil }
            return content.measures.first { $0.measure == measure }.map { Double($0.value) }
        case .function(let name):
            let matching = try Pattern(asked: name).meant(content.functions, \.identity.name)
            let names = Set(matching.map(\.identity.name))
            guard names.count <= 1 else { throw .severalFunctions(name, names.sorted()) }
            return Double((matching.first { $0.identity.module == "" } ?? matching.first)?.sums.total ?? 0)
        case .path(let names): return Double(try HistorySubject.path(names, in: content)?.sums.total ?? 0)
        }
    }
}
