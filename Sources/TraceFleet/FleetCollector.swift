internal import Glibc
internal import TraceExport
public import TraceFile
internal import TraceHistory
public import TraceQuery
internal import TraceSystem
internal import TraceText

/// Writes what a session's calls have added up to since the last time, again and again, each time as files of their own.
///
/// Nothing is counted twice, and nothing is left out, wherever this is killed. Files are written aside first. Then the state, which has the
/// sums so far and the names of these files, takes the old one's place: that is the moment at which they count. Only then they are
/// moved to their places; whoever goes on later moves those that were not, and removes those that do not count.
public final class FleetCollector {
    /// Where files lie that are none of the tables.
    static let folder = ".fathom-collect"

    public let path: String
    private let directory: FleetDirectory
    private let labels: [(name: String, value: String)]
    private let symbols: [String]
    private let query: RunningQuery
    private let listener: () -> QueryListener
    private let key: UInt64
    private let lock: Int32
    private var state: FleetState

    private var stateFile: String { "\(FleetCollector.folder)/\(FleetFile.name(session: key)).state" }

    /// Why nothing can be collected, or nothing more. The description is one line.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// Somebody else does it.
        case busy(session: String, directory: String)
        /// The state, a file, is not as it was written; `others` are the files of its intervals.
        case damaged(String, others: String)
        /// The tables would be far too large.
        case tooLarge(session: String, reason: String)

        public var description: String {
            switch self {
            case .busy(let session, let directory): "\(session): is being collected into \(directory) already"
            case .damaged(let file, let others): "\(file): is damaged; to begin anew, remove it, and \(others)"
            case .tooLarge(let session, let reason): "\(session): \(reason)"
            }
        }
    }

    /// Goes on where the last one stopped.
    ///
    /// - Parameters:
    ///   - session: as it was opened; it is not needed any more afterwards.
    ///   - listener: makes what is told of each reading.
    /// - Throws: ``Failure``, ``SystemError`` of the directory, or ``QueryError``.
    public init(
        _ session: Session, into directory: FleetDirectory, labels: [(name: String, value: String)], symbols: [String],
        listener: @escaping () -> QueryListener
    ) throws {
        path = session.path
        self.directory = directory
        self.labels = labels
        self.symbols = symbols
        self.listener = listener
        try session.requireSums(for: "what is collected is what all calls add up to")
        key = FleetRun.key(of: session)
        try directory.makeDirectory(FleetCollector.folder)
        let lockFile = "\(directory.path)/\(FleetCollector.folder)/\(FleetFile.name(session: key)).lock"
        lock = open(lockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard lock >= 0 else { throw SystemError(lockFile, errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Failure.busy(session: session.path, directory: directory.path)
        }
        var options = QueryOptions()
        options.symbolFiles = symbols
        do {
            query = try RunningQuery(session, options, listener: listener())
            state = try FleetCollector.state(of: key, in: directory)
        } catch {
            close(lock)
            throw error
        }
        try putIntoPlace()
        removeLeftovers()
    }

    deinit { close(lock) }

    private static func state(of key: UInt64, in directory: FleetDirectory) throws -> FleetState {
        let file = "\(folder)/\(FleetFile.name(session: key)).state"
        guard let bytes = try directory.read(file) else { return FleetState() }
        guard let state = FleetState(bytes: bytes) else {
            throw Failure.damaged("\(directory.path)/\(file)", others: "\(FleetFile.name(session: key))-*.parquet")
        }
        return state
    }

    /// Writes what has come since the last time, if anything has.
    ///
    /// - Returns: whether the session still grows.
    /// - Throws: ``SystemError``, after which the next interval has what this one lacks; otherwise ``Failure`` or ``QueryError``.
    public func collect() throws -> Bool {
        let moment = try newest()
        let session = try Session.opened(path)
        // Of a whole recording, it is known what the last calls took that did not end.
        let content =
            moment.isRecording || session.isRecording
            ? RunContent(moment.tree, program: session.processes.first?.path)
            : try SessionRun(session, symbols: symbols, lines: true, listener: listener()).content
        var run = FleetRun(of: session, labels: labels, part: state.part + 1)
        run.take(content)
        var next = state
        next.advance(&run, to: SystemClock.realtime)
        guard !run.isEmpty else { return moment.isRecording || session.isRecording }
        let tables = FleetTables(run)
        if let refusal = tables.refusal { throw Failure.tooLarge(session: path, reason: refusal) }
        let files = directory.files(of: run)
        next.files = files.map(\.file)
        for (table, file) in files {
            try directory.write(to: FleetCollector.aside(file), isDurable: true) { tables.write(table, to: $0) }
        }
        try directory.synchronize(FleetCollector.folder)
        let bytes = next.bytes
        try directory.write(to: stateFile, isDurable: true) { $0.write(bytes) }
        state = next
        try directory.synchronize(FleetCollector.folder)
        try putIntoPlace()
        return moment.isRecording || session.isRecording
    }

    /// Reads all that there is or, of a program that calls faster than that, some seconds' worth.
    private func newest() throws -> RunningQuery.Moment {
        var moment: RunningQuery.Moment
        var pieces = 0
        repeat {
            while query.read(for: 200_000_000) < 1, pieces < 50 { pieces += 1 }
            moment = try query.moment()
            pieces = 0
        } while !moment.isRecording && !moment.isThrough
        return moment
    }

    /// Where a file lies until it counts: `run/…/NAME.parquet` as `NAME.run`.
    private static func aside(_ file: String) -> String {
        let table = file.prefix { $0 != "/" }
        let name = file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...]
        return "\(folder)/\(name.dropLast(".parquet".count)).\(table)"
    }

    private func putIntoPlace() throws(SystemError) {
        for file in state.files { try directory.move(FleetCollector.aside(file), to: file) }
    }

    /// Removes files that were written aside and never counted.
    private func removeLeftovers() {
        let prefix = FleetFile.name(session: key) + "-"
        for name in directory.names(in: FleetCollector.folder) where name.hasPrefix(prefix) {
            unlink("\(directory.path)/\(FleetCollector.folder)/\(name)")
        }
        // What a process left that was killed while a file took its place.
        for name in directory.names(in: FleetCollector.folder) where name.hasPrefix(".fathom-") {
            let fields = name.split(separator: "-")
            guard fields.count == 3, let process = pid_t(fields[1]), process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            unlink("\(directory.path)/\(FleetCollector.folder)/\(name)")
        }
    }
}
