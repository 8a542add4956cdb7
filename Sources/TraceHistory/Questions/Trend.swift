internal import TraceAnalysis
public import TraceStatistics
internal import TraceText

/// One number of each run, in the order in which the runs were made, and where it changed.
public struct Trend: Sendable {
    public struct Point: Sendable {
        public var run: HistoryRun
        public var value: Double
    }

    /// Runs that share a version, or another label.
    public struct Group: Sendable {
        public var name: String
        /// Indices of its points.
        public var points: [Int]
        public var median: Double
        /// The percentile asked for, by nearest rank; of ``HistoryMetric/call``, over the calls of all its runs.
        public var percentile: Double
    }

    public let subject: HistorySubject
    public let metric: HistoryMetric
    /// The percentile that groups tell.
    public let percent: Double
    public let label: String?
    public let points: [Point]
    /// In the order of their first runs.
    public let groups: [Group]
    public let changes: [ChangePoint]
    /// Runs that were selected and do not have the subject.
    public let missing: Int
    public let selection: RunSelection.Found

    /// Whether values are ns.
    public var isTime: Bool {
        subject.isTime && metric.isTime
    }

    /// - Parameters:
    ///   - label: what groups runs by its value; nil for one group.
    ///   - percent: more than 0, at most 100.
    /// - Complexity: O(runs of the history), besides finding changes.
    public init(
        of subject: HistorySubject, _ metric: HistoryMetric, in store: HistoryStore, _ selection: RunSelection,
        by label: String?, percent: Double
    ) throws(HistoryQuestionError) {
        self.metric = metric
        self.percent = percent
        self.label = label
        var selection = selection
        selection.needsTimes = metric.isTime
        // What is known of a run as a whole is known in any mode.
        if case .measure = subject { selection.needsTimes = false }
        let found: RunSelection.Found
        let numbers: RunNumbersSource
        do {
            let runs = try store.runs()
            do throws(RunSelection.Refusal) { found = try selection.found(among: runs, of: store.path) } catch {
                throw HistoryQuestionError.selection(error)
            }
            numbers = try RunNumbersSource(subject, metric, store, percent)
        } catch {
            throw HistoryQuestionError(error)
        }
        self.subject = numbers.subject
        self.selection = found
        points = found.runs.compactMap { run in numbers.value(of: run).map { Point(run: run, value: $0) } }
        missing = found.runs.count - points.count
        changes = Trend.changes(points, metric)
        groups = Trend.groups(points, label, percent, numbers)
    }

    /// Where numbers of calls are the same in run after run, another number is certain, as ``HistoryChanges`` has it.
    private static func changes(_ points: [Point], _ metric: HistoryMetric) -> [ChangePoint] {
        let values = points.map(\.value)
        guard metric == .calls, points.count >= HistoryChanges.leastRunsOfCalls, points.allSatisfy(\.run.mode.isExact),
            let steps = ChangeSearch.steps(of: values)
        else { return ChangeDetector().changes(of: values) }
        return steps.map { ChangePoint(index: $0, before: values[$0 - 1], after: values[$0], chance: 0) }
    }

    private static func groups(
        _ points: [Point], _ label: String?, _ percent: Double, _ numbers: RunNumbersSource
    ) -> [Group] {
        var places: [String: Int] = [:]
        var groups: [Group] = []
        for (index, point) in points.enumerated() {
            let name = label.map { point.run.label($0) ?? "(none)" } ?? "all"
            let place = places[name] ?? groups.count
            if place == groups.count {
                places[name] = place
                groups.append(Group(name: name, points: [], median: 0, percentile: 0))
            }
            groups[place].points.append(index)
        }
        for place in groups.indices {
            let values = groups[place].points.map { points[$0].value }.sorted()
            groups[place].median = Percentile.median(values)
            groups[place].percentile =
                numbers.percentile(ofRuns: groups[place].points.map { points[$0].run.id })
                ?? NearestRank.value(of: values, percent)
        }
        return groups
    }
}
