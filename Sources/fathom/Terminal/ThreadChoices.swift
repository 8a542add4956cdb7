internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceScreen
internal import TraceText

/// What of a session may be looked at by itself: everything that was asked for, a process, a thread.
struct ThreadChoices {
    let list: [ScreenContent.Choice]
    private let selections: [ThreadSelection?]

    /// - Parameter asked: what the command line chooses; it is the first choice, and the others are all that there is.
    init(_ session: Session, asked: ThreadSelection) {
        var list = [ScreenContent.Choice(asked.isAll ? "everything" : "what was asked for")]
        var selections: [ThreadSelection?] = [nil]
        for process in session.processes {
            list.append(ScreenContent.Choice("process \(process.pid) \(process.calledName ?? process.programName)"))
            selections.append(try? ThreadSelection(threads: [], processes: ["\(process.pid)"]))
            for thread in process.threads {
                let isMain = thread.tid == process.pid
                let name = thread.name.isEmpty ? "" : " \(thread.name)"
                list.append(
                    ScreenContent.Choice("thread \(thread.tid)\(isMain ? " main" : "")\(name)", level: 1))
                selections.append(try? ThreadSelection(threads: ["\(thread.tid)"], processes: ["\(process.pid)"]))
            }
        }
        self.list = list
        self.selections = selections
    }

    /// The threads of a choice; nil for what was asked for.
    func selection(_ choice: Int) -> ThreadSelection? { selections[choice] }
}
