/// Which runs of a history are looked at together: those of one program, called in one way, on one machine, in the order in which
/// they were made. Others would differ for reasons that are no changes.
public struct RunSelection: Sendable {
    public var program: String?
    public var command: String?
    public var host: String?
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
        case unreadable(HistoryError)

        public var description: String {
            switch self {
            case .empty(let path): "\(path): has no runs: fathom history add SESSION adds one"
            case .none(let path, let needsTimes):
                "\(path): no run is of that program, command, machine and label\(needsTimes ? ", and has times" : "")"
            case .noStart(let since): "--since \(since): neither the number of a run nor the value of a label"
            case .unreadable(let error): "\(error)"
            }
        }
    }

    /// The runs that are selected, and what else there was.
    public struct Found: Sendable {
        /// The oldest first.
        public var runs: [HistoryRun]
        /// What all of them have in common.
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
                && (host == nil || run.host == host) && (!needsTimes || run.mode.hasTimes)
                && labels.allSatisfy { run.label($0.name) == $0.value }
        }
        guard let newest = left.last else { throw .none(path: path, needsTimes: needsTimes) }
        let all = left.count
        left.removeAll { run in
            run.program != newest.program || run.command != newest.command || run.host != newest.host
                || run.mode.hasTimes != newest.mode.hasTimes || run.mode.isExact != newest.mode.isExact
        }
        let others = all - left.count
        if let since {
            guard let start = start(since, left) else { throw .noStart(since) }
            left.removeSubrange(..<start)
        }
        if let last, left.count > last { left.removeSubrange(..<(left.count - last)) }
        return Found(
            runs: left, program: newest.program, command: newest.command, host: newest.host, others: others)
    }

    private func start(_ since: String, _ runs: [HistoryRun]) -> Int? {
        runs.firstIndex { run in run.labels.contains { $0.value == since } }
            ?? Int64(since).flatMap { number in runs.firstIndex { $0.id == number } }
    }
}
