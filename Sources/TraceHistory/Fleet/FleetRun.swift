public import TraceFile
internal import TraceFindings

/// A run as rows of the fleet's tables: of a whole recording, or of what a program did in an interval.
public struct FleetRun: Sendable {
    /// Tells the run from all others. It is the same each time when a recording is written again, so that the new rows take the place
    /// of the old ones.
    public var id: UInt64
    /// What its files are called.
    public var fileName: String
    /// When it began, in ns since 1970.
    public var time: UInt64
    public var program: String
    public var host: String
    public var cpu: String
    /// By name, in order: what people said of the run, then what is known of it, under names that begin with `fathom.`.
    public var labels: [(name: String, value: String)]
    /// Whether times were recorded, and not only calls.
    public var keepsTimes: Bool
    /// Whether it was recorded when threads had a CPU.
    public var keepsWaits: Bool
    /// Callers come before callees.
    public var stacks: [FleetStack] = []
    /// What the functions of the stacks were built from, by the index of their stack.
    public var origins: [Origin] = []
    /// By the index of their stack; nil where there is nothing to tell.
    public var sums: [FleetSums?] = []
    /// What is taken back of stacks that are there no more.
    public var gone: [(id: UInt64, sums: FleetSums)] = []

    /// The build that a function was of, and where it is defined in it; nil where that is not known.
    public struct Origin: Sendable, Equatable {
        /// The build-id of its module, in hexadecimal.
        public var buildID: String?
        public var file: String?
        public var line: Int?

        public init(buildID: String? = nil, file: String? = nil, line: Int? = nil) {
            (self.buildID, self.file, self.line) = (buildID, file, line)
        }
    }

    /// By the path of a module's file; empty where it has none, or where it was another file later.
    private var buildIDs: [String: String]

    /// Whether there is nothing to tell of any stack.
    public var isEmpty: Bool { gone.isEmpty && sums.allSatisfy { $0 == nil } }

    public var version: String? { labels.first { $0.name == "version" }?.value }
    public var commit: String? { labels.first { $0.name == "commit" }?.value }

    /// A run without calls.
    ///
    /// - Parameters:
    ///   - labels: what people say of it.
    ///   - part: the number of an interval; nil for all of the recording.
    public init(of session: Session, labels: [(name: String, value: String)], part: Int? = nil) {
        let run = HistoryRun(of: session, calls: 0, total: 0)
        let key = FleetRun.key(of: session)
        id = part.map { SipHash.hash("\(key) \($0)".utf8) } ?? key
        fileName = part.map { FleetFile.name(session: key, part: $0) } ?? FleetFile.name(session: key)
        (time, program, host, cpu) = (run.time, run.program, run.host, run.cpu)
        self.labels = labels
        self.labels.append(("fathom.mode", run.mode.rawValue))
        self.labels.append(("fathom.command", run.command))
        if run.lost > 0, part == nil { self.labels.append(("fathom.lost_calls", "\(run.lost)")) }
        buildIDs = Dictionary(RunContent.Module.all(of: session).map { ($0.path, $0.buildID) }) { $0 == $1 ? $0 : "" }
        keepsTimes = run.mode.hasTimes
        keepsWaits = session.processes.contains { $0.threads.contains(where: \.splitsTimes) }
    }

    /// Tells a session from all others: two do not begin in the same nanosecond on one machine with the same process id.
    public static func key(of session: Session) -> UInt64 {
        let run =
            "\(session.startRealtimeNanoseconds) \(session.description?.host ?? "") \(session.processes.first?.pid ?? 0)"
        return SipHash.hash(run.utf8)
    }

    /// Takes all calls of `content`, except for paths that took less than `minTotal` ns and those below them.
    public mutating func take(_ content: RunContent, minTotal: UInt64 = 0) {
        stacks = FleetStack.all(of: content)
        origins = content.paths.map { path in
            let function = content.functions[path.function]
            let buildID = function.module.flatMap { buildIDs[$0] } ?? ""
            return Origin(buildID: buildID.isEmpty ? nil : buildID, file: function.file, line: function.line)
        }
        sums = []
        sums.reserveCapacity(stacks.count)
        for path in content.paths {
            let isLeftOut = path.sums.total < minTotal || path.caller >= 0 && sums[path.caller] == nil
            sums.append(isLeftOut ? nil : FleetSums(path.sums, keepsTimes: keepsTimes))
        }
    }
}
