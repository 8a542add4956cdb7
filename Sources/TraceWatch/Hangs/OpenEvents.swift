internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery

/// Finds the events that go on in a thread, of the kind that the options ask for.
struct OpenEvents {
    private let root: HangOptions.Root
    private let launched: String?
    private let session: LiveSession
    /// Functions that were asked for, by what is known so far.
    private var matches: [Function: Bool] = [:]
    /// Marks that began something which no mark has ended yet.
    private var begun: [Thread: LiveMark] = [:]
    /// Events of the thread that was looked at last which a mark has ended, and when, in ticks.
    private(set) var ended: [(event: HangJudge.Event, ticks: UInt64)] = []
    /// Whether the program has set the mark of its launch; also true when the options name no such mark.
    private(set) var isLaunched: Bool
    /// Marks that the options name, and that no thread has set yet, as far as was seen.
    private(set) var unseenMarks: Set<String>

    private struct Function: Hashable {
        var process: UInt32
        var address: UInt64
    }

    private struct Thread: Hashable {
        var process: UInt32
        var serial: UInt32
    }

    init(_ options: HangOptions, _ session: LiveSession) {
        root = options.root
        launched = options.launched
        isLaunched = options.launched == nil
        unseenMarks = Set(options.marks)
        self.session = session
    }

    /// A call, or the time since a mark, that is going on.
    struct Open {
        var event: HangJudge.Event
        /// Whether it is a piece of a Swift task.
        var isTask = false
    }

    /// The event of a thread; nil when none goes on.
    ///
    /// - Parameter isOld: whether what began then can be a hang already. Only then is it worth looking up what a function is.
    mutating func event(of thread: LiveThread, isOld: (UInt64) -> Bool) -> Open? {
        note(thread.marks, of: thread)
        let calls = thread.wholePath
        switch root {
        case .main:
            if thread.isMain, calls.count > 1 { return Open(event: event(calls[1], thread)) }
            guard let first = calls.first, isOld(first.enterTicks), isTask(first, thread) else { return nil }
            return Open(event: event(first, thread), isTask: true)
        case .functions(let patterns):
            let found = calls.first { isOld($0.enterTicks) && isAskedFor($0, thread, patterns) }
            return found.map { Open(event: event($0, thread)) }
        case .marks:
            guard let mark = begun[Thread(process: thread.process, serial: thread.serial)] else { return nil }
            return Open(event: event(mark, thread))
        }
    }

    private func event(_ mark: LiveMark, _ thread: LiveThread) -> HangJudge.Event {
        HangJudge.Event(
            process: thread.process, serial: thread.serial, function: UInt64(mark.name), begin: mark.ticks)
    }

    private func event(_ call: LiveCall, _ thread: LiveThread) -> HangJudge.Event {
        HangJudge.Event(
            process: thread.process, serial: thread.serial, function: call.function, begin: call.enterTicks)
    }

    private mutating func note(_ marks: [LiveMark], of thread: LiveThread) {
        ended = []
        for mark in marks {
            let name = session.mark(mark.name, of: thread.process)
            if name == launched { isLaunched = true }
            if let name { unseenMarks.remove(name) }
            guard case .marks(let begin, let end) = root else { continue }
            let key = Thread(process: thread.process, serial: thread.serial)
            guard name == begin || name == end else { continue }
            if let first = begun.removeValue(forKey: key) { ended.append((event(first, thread), mark.ticks)) }
            if name == begin { begun[key] = mark }
        }
    }

    private mutating func isAskedFor(_ call: LiveCall, _ thread: LiveThread, _ patterns: [Pattern]) -> Bool {
        let key = Function(process: thread.process, address: call.function)
        if let known = matches[key] { return known }
        let function = session.function(at: call.function, of: thread.process)
        let isMatch = patterns.contains { $0.matches(function.name) }
        if function.isKnown || isMatch { matches[key] = isMatch }
        return isMatch
    }

    private mutating func isTask(_ call: LiveCall, _ thread: LiveThread) -> Bool {
        let key = Function(process: thread.process, address: call.function)
        if let known = matches[key] { return known }
        let isTask = session.isTaskPart(at: call.function, of: thread.process)
        matches[key] = isTask
        return isTask
    }
}

extension LiveThread {
    /// The open calls of the thread's own stack and, behind them, those of the stack that runs, outermost first.
    var wholePath: [LiveCall] { lane == 0 ? calls : (parked[0] ?? []) + calls }
}
