internal import TraceAnalysis
internal import TraceFile
public import TraceQuery
internal import TraceStatistics
internal import TraceText

/// What a candidate is compared with: runs of a history, or sessions.
public struct GateBaseline {
    /// The oldest first.
    public var runs: [(run: HistoryRun, content: RunContent)] = []
    /// Where they are from, for the summary.
    public var name: String

    /// How many runs of a history are looked at, the newest.
    static let mostRuns = 30

    /// - Parameters:
    ///   - paths: of one history, or of sessions.
    ///   - symbols: files and directories with the sessions' symbols.
    /// - Throws: ``GateFailure``, ``HistoryError`` or ``QueryError``.
    public init(_ paths: [String], _ selection: RunSelection, symbols: [String], listener: () -> QueryListener) throws {
        name = CommandText.line(paths)
        guard let first = paths.first else { return }
        guard HistoryStore.isDatabase(at: first) else {
            for path in paths {
                let read = try SessionRun(Session.opened(path), symbols: symbols, listener: listener())
                runs.append((read.run, read.content))
            }
            runs.sort { $0.run.time < $1.run.time }
            if let mixed = runs.first(where: { $0.run.mode.hasTimes != runs[0].run.mode.hasTimes }) {
                throw GateFailure.mixed(mixed.run.session, runs[0].run.session)
            }
            return
        }
        if paths.count > 1 { throw GateFailure.severalHistories }
        let store = try HistoryStore(path: first, creates: false)
        var selection = selection
        selection.last = selection.last ?? GateBaseline.mostRuns
        let all = try store.runs(), found: RunSelection.Found
        do throws(RunSelection.Refusal) { found = try selection.found(among: all, of: first) } catch {
            throw GateFailure.selection(error)
        }
        let catalog = try store.catalog(paths: true)
        for run in found.runs { runs.append((run, try store.content(of: run.id, catalog))) }
        let ids = runs.count == 1 ? "run \(runs[0].run.id)" : "runs \(runs[0].run.id) to \(runs[runs.count - 1].run.id)"
        name = "\(ids) of \(name): \(found.command)"
    }

    /// How the newest run was recorded, and so how a candidate is to be, so that recording costs both the same.
    public var mode: String {
        switch runs.last?.run.mode {
        case .calls, .samples, nil: "trace"
        case .paths: "profile"
        case .counts: "counts"
        }
    }

    /// Leaves out the runs before the last change of their times, which are of another version.
    public mutating func keepNewest(_ subject: HistorySubject) throws {
        let times = try runs.map { try subject.time(in: $0.content, total: $0.run.total) ?? 0 }
        guard let last = ChangeDetector().changes(of: times).last else { return }
        runs.removeFirst(last.index)
    }
}
