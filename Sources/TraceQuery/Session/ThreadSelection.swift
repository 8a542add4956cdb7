public import TraceAnalysis
public import TraceFile
internal import TraceText

/// Which threads of a session are asked for.
public struct ThreadSelection {
    /// A process and those of its threads that are asked for.
    public typealias Selected = (process: TracedProcess, threads: [TracedThread])

    private let threadNames: [String]
    private let processNames: [String]
    private let threads: [Pattern]
    private let processes: [Pattern]

    public static var all: ThreadSelection { ThreadSelection() }

    private init() { (threadNames, processNames, threads, processes) = ([], [], [], []) }

    /// - Parameters:
    ///   - threads: ids, `main`, or patterns of names; none for all.
    ///   - processes: ids, or patterns of programs or of what they were called; none for all.
    public init(threads: [String], processes: [String]) throws(Pattern.InvalidPattern) {
        threadNames = threads
        processNames = processes
        self.threads = try threads.map { (text) throws(Pattern.InvalidPattern) in try Pattern(unqualified: text) }
        self.processes = try processes.map { (text) throws(Pattern.InvalidPattern) in try Pattern(unqualified: text) }
    }

    /// Everything is asked for.
    public var isAll: Bool { threadNames.isEmpty && processNames.isEmpty }

    /// The processes that are asked for, with their threads that are.
    ///
    /// - Parameter join: given, it joins the pieces of Swift's tasks: after the threads of a process come its tasks. Threads
    ///   that are asked for by themselves are as they were.
    func selected(of session: Session, joining join: TaskJoin?) throws(QueryError) -> [Selected] {
        let selection: [Selected] = session.processes.compactMap { candidate in
            guard contains(candidate) else { return nil }
            let joined = join?.threads(of: candidate) ?? candidate.threads
            if threadNames.isEmpty { return (candidate, joined) }
            let kept = (candidate.threads + joined.filter { $0.task != nil }).filter(contains)
            return kept.isEmpty ? nil : (candidate, kept)
        }
        if selection.isEmpty, !isAll {
            let near = nearNames(of: session)
            throw threadNames.isEmpty
                ? .noProcess(processNames, near: near) : .noThread(processNames + threadNames, near: near)
        }
        return selection
    }

    /// What may have been meant by the first name that is of no process, or else of no thread.
    private func nearNames(of session: Session) -> NearNames {
        let names = session.processes.flatMap { [$0.programName] + ($0.calledName.map { [$0] } ?? []) }
        if let missing = zip(processNames, processes).first(where: { name, pattern in
            !session.processes.contains { $0.pid.description == name } && !names.contains { pattern.matches($0) }
        }) {
            return NearNames(to: missing.0, among: names)
        }
        let threads = session.processes.filter(contains).flatMap(\.threads)
        let missing = zip(threadNames, self.threads).first { name, pattern in
            !threads.contains { String($0.tid) == name || pattern.matches($0.name) }
        }
        return missing.map { NearNames(to: $0.0, among: ["main"] + threads.map(\.name)) } ?? .none
    }

    /// Whether Swift's tasks are shown joined, and not as pieces on the threads that ran them: those are what a thread that is
    /// asked for by itself has.
    func joinsTasks(of session: Session) -> Bool {
        threadNames.isEmpty
            || !session.processes.contains { contains($0) && $0.threads.contains(where: contains) }
    }

    private func contains(_ process: TracedProcess) -> Bool {
        processNames.isEmpty || processNames.contains(String(process.pid))
            || processes.contains { $0.matches(process.programName) || $0.matches(process.calledName ?? "") }
    }

    private func contains(_ thread: TracedThread) -> Bool {
        threadNames.contains(String(thread.tid)) || threadNames.contains("main") && thread.tid == thread.process.pid
            || threads.contains { $0.matches(thread.name) }
    }
}
