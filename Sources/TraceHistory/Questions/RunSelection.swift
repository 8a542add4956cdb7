internal import TraceText

/// Which runs of a history are looked at together: those of one program, given the same arguments, on one machine, in the order in
/// which they were made. Others would differ for reasons that are no changes. Where the program lies does not matter, and machines
/// that share the label `machine` are one.
public struct RunSelection: Sendable {
    public var program: String?
    public var command: String?
    /// A host's name, or the value of the label `machine`.
    public var host: String?
    /// Whether runs on all machines are looked at.
    public var anyHost = false
    /// A command that is to be compared with the runs, and the host that it runs on: runs with its arguments are looked at, and those
    /// on that host when there are any.
    public var candidate: (command: String, host: String)?
    /// What runs are labelled with, all of them.
    public var labels: [(name: String, value: String)] = []
    /// The first run: its number, or the value of a label that it is the first to have.
    public var since: String?
    /// So many of the newest runs.
    public var last: Int?
    /// Whether runs without times do.
    public var needsTimes = true

    public init() {}

    /// Why no runs are selected.
    public enum Refusal: Error, Equatable, CustomStringConvertible {
        case empty(path: String)
        case none(path: String, needsTimes: Bool)
        case noStart(String)
        /// No run was given the candidate's arguments.
        case noCommand(path: String, command: String, others: String)

        public var description: String {
            switch self {
            case .empty(let path): "\(path): has no runs: fathom history add SESSION adds one"
            case .none(let path, let needsTimes):
                "\(path): no run is of that program, command, machine and label\(needsTimes ? ", and has times" : "")"
            case .noStart(let since): "--since \(since): neither the number of a run nor the value of a label"
            case .noCommand(let path, let command, let others):
                "\(path): has no run of \(command); --command \(CommandText.line([others])) compares with runs of another command"
            }
        }
    }

    /// The runs that are selected, and what else there was.
    public struct Found: Sendable {
        /// The oldest first.
        public var runs: [HistoryRun]
        /// What all of them have in common; the machine is empty where there are several.
        public var program: String
        public var command: String
        public var host: String
        /// How many were left out because they are of another program, command or machine that nobody asked for.
        public var others: Int
    }

    /// Selects among `runs`, the oldest first. What is not asked for is as it is of the newest run that is left.
    ///
    /// - Parameter path: the history's, for messages.
    public func found(among runs: [HistoryRun], of path: String) throws(Refusal) -> Found {
        guard !runs.isEmpty else { throw .empty(path: path) }
        var left = runs.filter { run in
            (program == nil || run.program == program) && (command == nil || run.command == command)
                && (host == nil || run.host == host || run.machine == host) && (!needsTimes || run.mode.hasTimes)
                && labels.allSatisfy { run.label($0.name) == $0.value }
        }
        let all = left.count
        if let candidate, command == nil, let last = left.last {
            let arguments = HistoryRun.arguments(of: candidate.command)
            left.removeAll { $0.arguments != arguments }
            if left.isEmpty { throw .noCommand(path: path, command: candidate.command, others: last.command) }
        }
        if let candidate, host == nil, !anyHost, left.contains(where: { $0.machine == candidate.host }) {
            left.removeAll { $0.machine != candidate.host }
        }
        guard let newest = left.last else { throw .none(path: path, needsTimes: needsTimes) }
        left.removeAll { run in
            run.program != newest.program || run.arguments != newest.arguments
                || (!anyHost && host == nil && run.machine != newest.machine)
                || run.mode.hasTimes != newest.mode.hasTimes || run.mode.isExact != newest.mode.isExact
        }
        let others = all - left.count
        if let since {
            guard let start = start(since, left) else { throw .noStart(since) }
            left.removeSubrange(..<start)
        }
        if let last, left.count > last { left.removeSubrange(..<(left.count - last)) }
        return Found(
            runs: left, program: newest.program, command: newest.command,
            host: left.allSatisfy { $0.machine == newest.machine } ? newest.machine : "", others: others)
    }

    private func start(_ since: String, _ runs: [HistoryRun]) -> Int? {
        runs.firstIndex { run in run.labels.contains { $0.value == since } }
            ?? Int64(since).flatMap { number in runs.firstIndex { $0.id == number } }
    }
}
