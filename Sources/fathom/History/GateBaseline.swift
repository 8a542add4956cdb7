internal import Glibc
internal import TraceAnalysis
internal import TraceHistory
internal import TraceQuery
internal import TraceStatistics
internal import TraceText

/// What a candidate is compared with: runs of a history, or sessions.
struct GateBaseline {
    /// The oldest first.
    var runs: [(run: HistoryRun, content: RunContent)] = []
    /// Where they are from, for the summary.
    var name: String

    /// How many runs of a history are looked at, the newest.
    static let mostRuns = 30

    /// - Parameter paths: of one history, or of sessions.
    init(_ paths: [String], _ selection: RunSelection, symbols: [String]) throws {
        name = CommandText.line(paths)
        guard let first = paths.first else { return }
        guard HistoryStore.isDatabase(at: first) else {
            for path in paths {
                let read = try SessionRun(path, symbols: symbols)
                runs.append((read.run, read.content))
            }
            runs.sort { $0.run.time < $1.run.time }
            if let mixed = runs.first(where: { $0.run.mode.hasTimes != runs[0].run.mode.hasTimes }) {
                throw Diagnostics.fail(
                    "\(mixed.run.session): keeps something else than \(runs[0].run.session)", .failed)
            }
            return
        }
        if paths.count > 1 { throw Diagnostics.fail("--against is one history or several sessions", .wrongUsage) }
        let store = try openHistory(first, creates: false)
        var selection = selection
        selection.last = selection.last ?? GateBaseline.mostRuns
        let found: RunSelection.Found
        do throws(RunSelection.Refusal) {
            found = try selection.found(among: try store.allRuns(), of: first)
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        let catalog = try store.catalog(paths: true)
        for run in found.runs { runs.append((run, try store.content(of: run.id, catalog))) }
        let ids = runs.count == 1 ? "run \(runs[0].run.id)" : "runs \(runs[0].run.id) to \(runs[runs.count - 1].run.id)"
        name = "\(ids) of \(name): \(found.command)"
    }

    /// How the newest run was recorded, and so how a candidate is to be, so that recording costs both the same.
    var mode: String {
        switch runs.last?.run.mode {
        case .calls, .samples, nil: "trace"
        case .paths: "profile"
        case .counts: "counts"
        }
    }

    /// Leaves out the runs before the last change of their times, which are of another version.
    mutating func keepNewest(_ subject: HistorySubject) throws {
        let times = try runs.map { try subject.time(in: $0.content, total: $0.run.total) ?? 0 }
        guard let last = ChangeDetector().changes(of: times).last else { return }
        runs.removeFirst(last.index)
    }
}

extension HistoryStore {
    /// The runs, where a failure to read them is said and ends the command.
    func allRuns() throws(RunSelection.Refusal) -> [HistoryRun] {
        do throws(HistoryError) { return try runs() } catch { throw .unreadable(error) }
    }
}
