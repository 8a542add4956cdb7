internal import CSQLite
internal import Glibc
internal import TraceFile

/// A connection to an SQLite database, as far as a history needs one.
final class SQLiteDatabase {
    let path: String
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// How long to wait for others that write, in ms.
    private static let patience: Int32 = 300_000
    /// How long to wait before something is tried again, in ms.
    private static let pause: Int32 = 10

    /// - Parameter creates: whether the file is made if it is not there.
    init(path: String, creates: Bool) throws(HistoryError) {
        self.path = path
        _ = SQLiteDatabase.survivesLimits
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .failed(path: path, reason: reason)
        }
        handle = opened
        sqlite3_busy_timeout(handle, SQLiteDatabase.patience)
    }

    /// Has a limit on the size of files end a write with an error, as a full disk does, and not the process by a signal. A
    /// handler does so, and unlike ignoring the signal, it is not passed on to programs that are started.
    private static let survivesLimits: Void = {
        // Whoever handles or ignores it keeps to that; nil is SIG_DFL.
        if let before = signal(SIGXFSZ, { _ in }) { signal(SIGXFSZ, before) }
    }()

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Runs statements that return nothing.
    func run(_ sql: String) throws(HistoryError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// A statement, made once.
    func statement(_ sql: String) throws(HistoryError) -> SQLiteStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        var made: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &made, nil)
        guard code == SQLITE_OK, let made else { throw error(code) }
        let statement = SQLiteStatement(made, of: self)
        statements[sql] = statement
        return statement
    }

    /// The number that a statement returns, or 0.
    func number(_ sql: String) throws(HistoryError) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    /// All of `body` or nothing, alone among those who write: others wait.
    func write<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        try transaction("BEGIN IMMEDIATE", body)
    }

    /// All that `body` reads is of one moment.
    func read<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        try transaction("BEGIN", body)
    }

    /// Does `body`, and does it again as long as others are in its way: of two who wait for each other, SQLite lets one give up at once
    /// (https://sqlite.org/c3ref/busy_handler.html).
    func insist<Result>(_ body: () throws(HistoryError) -> Result) throws(HistoryError) -> Result {
        let end = SessionClock.nanoseconds(CLOCK_MONOTONIC) + UInt64(SQLiteDatabase.patience) * 1_000_000
        while true {
            do throws(HistoryError) {
                return try body()
            } catch {
                guard case .busy = error, SessionClock.nanoseconds(CLOCK_MONOTONIC) < end else { throw error }
            }
            sqlite3_sleep(SQLiteDatabase.pause)
        }
    }

    private func transaction<Result>(
        _ begin: String, _ body: () throws(HistoryError) -> Result
    ) throws(HistoryError) -> Result {
        try run(begin)
        do throws(HistoryError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    func error(_ code: Int32) -> HistoryError {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy(path: path)
        case SQLITE_NOTADB: .notAHistory(path: path)
        case SQLITE_CORRUPT: .damaged(path: path, what: String(cString: sqlite3_errmsg(handle)))
        default: .failed(path: path, reason: String(cString: sqlite3_errmsg(handle)))
        }
    }
}
