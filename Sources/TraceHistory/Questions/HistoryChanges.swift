public import TraceAnalysis
public import TraceStatistics

/// What changed from run to run, and in which functions the reason lies.
///
/// Numbers of calls come first: where a program calls a function equally often in run after run, another number is a
/// fact without noise. ``ChangeDetector`` compares times. It looks at each function's own time, so that a function that
/// only calls a slower one is not taken for the reason.
public struct HistoryChanges: Sendable {
    public struct Change: Sendable {
        public var function: IdentifiedFunctions.Identity
        /// Index in ``HistoryChanges/runs`` of the first run after the change.
        public var index: Int
        /// Calls a run, before and after.
        public var calls: Numbers
        /// Own time and total, in ns: medians over the runs between the neighbouring changes.
        public var own: Numbers
        public var total: Numbers
        /// Whether the number of calls changed, which is certain.
        public var isOfCalls: Bool
        /// See ``ChangePoint/chance``; 0 of calls.
        public var chance: Double
        /// What only follows from the change, most time first. When times changed: the callers whose total changes,
        /// too. When calls changed: the functions that this one calls more or less often.
        public var followers: [Follower]
    }

    public struct Numbers: Sendable, Equatable {
        public var before: Double
        public var after: Double
        public var change: Double { after - before }

        /// The change as a part of what was before; infinite when that was 0.
        public var relativeChange: Double { after.change(relativeTo: before) }
    }

    public struct Follower: Sendable {
        public var function: IdentifiedFunctions.Identity
        public var calls: Numbers
        public var total: Numbers
    }

    public struct Options: Sendable {
        /// Changes of times smaller than this part do not matter, however sure they are.
        public var threshold = 0.01
        /// The share of false changes among the reported changes of times. Where nothing has changed, it is the chance
        /// that any is reported. Both hold as far as the tests' chances are right.
        public var falseRate = 0.005
        /// Functions with less own time than this part of the whole are not looked at for times, and changes of less do not matter.
        public var leastShare = 0.001

        public init() {}
    }

    /// A measure of the run that changed.
    public struct MeasureChange: Sendable {
        public var measure: RunMeasure
        /// Indices are of ``HistoryChanges/runs``.
        public var points: [ChangePoint]
    }

    public let selection: RunSelection.Found
    public var runs: [HistoryRun] { selection.runs }
    /// Changes of the total time of a run.
    public let whole: [ChangePoint]
    /// Measures that changed, as CPU time and phases of the start; those of which all runs know them are looked at.
    public let measures: [MeasureChange]
    /// Those of calls first, then those that cost or save most time.
    public let changes: [Change]

    /// Whether there are enough runs to tell a change of times from noise.
    public var tellsTimes: Bool { runs.count >= HistoryChanges.leastRuns && runs[0].mode.hasTimes }

    public static let leastRuns = 10

    /// Whether there are enough runs to tell a change of calls: two before it, which show that the numbers do not vary by
    /// themselves, and one behind it.
    public var tellsCalls: Bool { runs.count >= HistoryChanges.leastRunsOfCalls }

    public static let leastRunsOfCalls = 3

    public init(
        in store: HistoryStore, _ selection: RunSelection, options: Options = Options()
    ) throws(HistoryQuestionError) {
        do {
            let runs = try store.runs()
            do throws(RunSelection.Refusal) { self.selection = try selection.found(among: runs, of: store.path) } catch
            {
                throw HistoryQuestionError.selection(error)
            }
            (whole, measures, changes) = try ChangeSearch(store, self.selection.runs, options).changes()
        } catch {
            throw HistoryQuestionError(error)
        }
    }
}
