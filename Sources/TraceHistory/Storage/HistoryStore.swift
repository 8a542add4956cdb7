internal import CSQLite
internal import Glibc

/// A file that holds what runs added up to: an SQLite database.
///
/// Each run is there as a whole or not at all, whenever the process that adds it ends, or the machine's power does. Others that add
/// runs meanwhile wait; readers do not.
public final class HistoryStore {
    public var path: String { database.path }
    let database: SQLiteDatabase

    /// - Parameter creates: whether the file is made when it is not there.
    public convenience init(path: String, creates: Bool) throws(HistoryError) {
        try self.init(path: path, creates: creates, version: HistorySchema.version)
    }

    /// - Parameter version: of the tables; older ones are for tests.
    init(path: String, creates: Bool, version: Int) throws(HistoryError) {
        if !creates, access(path, F_OK) != 0 { throw .missing(path: path) }
        database = try SQLiteDatabase(path: path, creates: creates)
        try database.insist { () throws(HistoryError) in
            try HistorySchema.migrate(database, to: version)
        }
        // FULL waits for the disk at each end of writing.
        try database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536")
    }

    deinit { close() }

    /// Puts what was written into the one file, so that it can be carried away alone, and read where nothing can be written. Where
    /// others have the history open, the last of them does this.
    public func close() {
        guard keepsLog else { return }
        database.patience = 0
        defer { database.patience = SQLiteDatabase.longPatience }
        _ = try? database.number("PRAGMA wal_checkpoint(TRUNCATE)")
        try? keepLog(false)
    }

    private var keepsLog: Bool {
        guard let statement = try? database.statement("PRAGMA journal_mode") else { return false }
        defer { statement.reset() }
        return (try? statement.step()) == true && statement.text(0) == "wal"
    }

    /// All of `body` or nothing. While somebody writes, there is a log beside the file, so that readers and one writer go on together.
    /// A process that is killed leaves the log, and the file as it was before.
    func write<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        try database.insist { () throws(HistoryError) in try keepLog(true) }
        return try database.write(body)
    }

    /// Asks for a log beside the file, or for none. Network file systems allow none.
    private func keepLog(_ isKept: Bool) throws(HistoryError) {
        let statement = try database.statement("PRAGMA journal_mode = \(isKept ? "WAL" : "DELETE")")
        defer { statement.reset() }
        _ = try statement.step()
    }

    /// - Throws: why nothing can be added to the file, or beside it.
    public func requireWritable() throws(HistoryError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        for place in [path, directory] where access(place, W_OK) != 0 {
            throw .failed(path: path, reason: "cannot be written: \(place): \(String(cString: strerror(errno)))")
        }
    }

    /// Whether the file at `path` is an SQLite database, and so may be a history.
    public static func isDatabase(at path: String) -> Bool {
        guard let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        return fread(&bytes, 1, bytes.count, file) == bytes.count && bytes == Array("SQLite format 3\0".utf8)
    }

    // MARK: Runs

    /// The runs, the oldest first.
    public func runs() throws(HistoryError) -> [HistoryRun] {
        try database.read { () throws(HistoryError) in
            var labels: [Int64: [(name: String, value: String)]] = [:]
            let all = try database.statement("SELECT run, name, value FROM label ORDER BY run, name")
            while try all.step() { labels[all.integer(0), default: []].append((all.text(1) ?? "", all.text(2) ?? "")) }
            all.reset()
            let rows = try database.statement("SELECT \(HistoryStore.columns) FROM run ORDER BY time, id")
            defer { rows.reset() }
            var runs: [HistoryRun] = []
            while try rows.step() {
                var run = HistoryStore.run(rows)
                run.labels = labels[run.id] ?? []
                runs.append(run)
            }
            return runs
        }
    }

    static let columns =
        "id, key, time, program, command, session, host, cpu, kernel, recorder, mode, calls, total, lost, functions, paths"

    private static func run(_ row: SQLiteStatement) -> HistoryRun {
        var run = HistoryRun()
        run.id = row.integer(0)
        run.key = row.text(1) ?? ""
        run.time = UInt64(bitPattern: row.integer(2))
        run.program = row.text(3) ?? ""
        run.command = row.text(4) ?? ""
        run.session = row.text(5) ?? ""
        run.host = row.text(6) ?? ""
        run.cpu = row.text(7) ?? ""
        run.kernel = row.text(8) ?? ""
        run.recorder = row.text(9) ?? ""
        run.mode = row.text(10).flatMap(HistoryRun.Mode.init) ?? .calls
        run.calls = UInt64(bitPattern: row.integer(11))
        run.total = UInt64(bitPattern: row.integer(12))
        run.lost = UInt64(bitPattern: row.integer(13))
        run.functions = Int(row.integer(14))
        run.paths = Int(row.integer(15))
        return run
    }

    /// Takes runs out.
    ///
    /// - Throws: ``HistoryError/noRun(path:run:)``; then all stay.
    public func remove(_ runs: [Int64]) throws(HistoryError) {
        try write { () throws(HistoryError) in
            for run in runs {
                for table in [Table.functions, .paths] {
                    // One key in each page, found by the one before it.
                    let next = try database.statement(
                        "SELECT id >> 32 FROM \(table.rawValue) WHERE id >= ? ORDER BY id LIMIT 1")
                    let delete = try database.statement("DELETE FROM \(table.rawValue) WHERE id = ?")
                    var page: Int64 = 0
                    while true {
                        next.bind(1, page << 32)
                        guard try next.step() else { break }
                        page = next.integer(0)
                        next.reset()
                        delete.bind(1, page << 32 | run)
                        try delete.run()
                        page += 1
                    }
                    next.reset()
                }
                let row = try database.statement("DELETE FROM run WHERE id = ? RETURNING id")
                row.bind(1, run)
                let isThere = try row.step()
                row.reset()
                guard isThere else { throw .noRun(path: path, run: run) }
            }
        }
    }

    /// Gives the room of removed runs back to the file system, and brings what belongs together side by side.
    ///
    /// - Returns: the sizes of the file before and after, in bytes.
    public func compact() throws(HistoryError) -> (before: UInt64, after: UInt64) {
        let before = size
        try database.run("VACUUM")
        _ = try database.number("PRAGMA wal_checkpoint(TRUNCATE)")
        return (before, size)
    }

    /// The size of the file and the log beside it, in bytes.
    public var size: UInt64 {
        [path, path + "-wal"].reduce(0) { sum, path in
            var status = stat()
            return stat(path, &status) == 0 ? sum + UInt64(status.st_size) : sum
        }
    }

    /// Where sums are kept.
    enum Table: String {
        case functions = "function_sums"
        case paths = "path_sums"
    }
}
