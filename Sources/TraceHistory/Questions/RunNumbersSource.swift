internal import TraceAnalysis

/// The number of each run that a trend is of.
struct RunNumbersSource {
    /// The subject, with whole names in place of patterns.
    let subject: HistorySubject
    private let metric: HistoryMetric
    private let percent: Double
    private var sums: [Int64: SubjectSums] = [:]
    private var moments: [Int64: UInt64] = [:]
    private var values: [Int64: Double] = [:]

    init(
        _ subject: HistorySubject, _ metric: HistoryMetric, _ store: HistoryStore, _ percent: Double
    ) throws(HistoryQuestionError) {
        self.metric = metric
        self.percent = percent
        var subject = subject
        do {
            switch subject {
            case .total:
                guard [.total, .calls].contains(metric) else {
                    throw HistoryQuestionError.notOf(metric: metric, subject: "total")
                }
            case .mark(let name):
                guard metric == .total else { throw HistoryQuestionError.notOf(metric: metric, subject: "a mark") }
                moments = try store.moments(ofMark: name)
                if moments.isEmpty {
                    throw HistoryQuestionError.noMark(name, among: try store.eventNames(counters: false))
                }
            case .counter(let name):
                guard metric == .total else { throw HistoryQuestionError.notOf(metric: metric, subject: "a counter") }
                values = try store.values(ofCounter: name)
                if values.isEmpty {
                    throw HistoryQuestionError.noCounter(name, among: try store.eventNames(counters: true))
                }
            case .measure(let asked):
                guard metric == .total else { throw HistoryQuestionError.notOf(metric: metric, subject: asked.title) }
                let measure = try asked.found(among: try store.measures())
                subject = .measure(measure)
                values = try store.values(of: measure)
            case .function(let pattern):
                let catalog = try store.catalog()
                let id = try RunNumbersSource.function(pattern, catalog)
                subject = .function(catalog.functions[Int(id)].name)
                sums = try store.sums(ofFunction: id, durations: metric == .call)
            case .path(let names):
                let id = try RunNumbersSource.path(names, try store.catalog(paths: true))
                sums = try store.sums(ofPath: id, durations: metric == .call)
            }
        } catch {
            throw HistoryQuestionError(error)
        }
        self.subject = subject
    }

    /// The function that a pattern matches, when it is one; of several of one name, the program's own.
    static func function(_ text: String, _ catalog: PathCatalog) throws(HistoryQuestionError) -> UInt32 {
        let matching = try Pattern(asked: text).meant(catalog.functions.indices) { catalog.functions[$0].name }
        let exact = matching.filter { catalog.functions[$0].name == text }
        let found = exact.isEmpty ? matching : exact
        if let first = found.first, found.allSatisfy({ catalog.functions[$0].name == catalog.functions[first].name }) {
            return UInt32(found.first { catalog.functions[$0].module == "" } ?? first)
        }
        guard found.isEmpty else { throw .severalFunctions(text, found.map { catalog.functions[$0].name }) }
        throw .noFunction(text, among: catalog.functions.map(\.name))
    }

    private static func path(_ names: [String], _ catalog: PathCatalog) throws(HistoryQuestionError) -> UInt32 {
        let found = try PathPattern(names).firstIndex(in: catalog.paths, caller: { Int($0.caller) - 1 }) {
            catalog.functions[Int($0.function)].name
        }
        guard let found else { throw .noPath(names, among: catalog.functions.map(\.name)) }
        return UInt32(found)
    }

    /// The number of a run; nil when it does not have the subject.
    func value(of run: HistoryRun) -> Double? {
        switch subject {
        case .total: return Double(metric == .calls ? run.calls : run.total)
        case .mark: return moments[run.id].map { Double($0) }
        case .counter, .measure: return values[run.id]
        case .function, .path:
            // A run that does not call a function calls it 0 times, which takes no time.
            guard let sums = sums[run.id] else { return [.average, .call].contains(metric) ? nil : 0 }
            switch metric {
            case .total: return Double(sums.total)
            case .self: return Double(sums.selfTime)
            case .calls: return Double(sums.calls)
            case .blocked: return Double(sums.blocked)
            case .average: return sums.calls > 0 ? Double(sums.total) / Double(sums.calls) : nil
            case .call: return percentile(ofRuns: [run.id])
            }
        }
    }

    /// The percentile of single calls over several runs; nil when that is not asked for.
    func percentile(ofRuns runs: [Int64]) -> Double? {
        guard metric == .call else { return nil }
        var reader = DurationReader()
        for run in runs { sums[run]?.addDurations(to: &reader) }
        return reader.takePercentile(percent).map { Double($0) }
    }
}
