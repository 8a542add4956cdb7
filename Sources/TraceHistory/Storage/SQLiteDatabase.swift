internal import CSQLite
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// A connection to an SQLite database, as far as a history needs one.
final class SQLiteDatabase {
    let path: String
    private let handle: OpaquePointer
    /// Where the file was copied to; nil: it is read where it is.
    private let copy: String?
    private var statements: [String: SQLiteStatement] = [:]

    /// How long to wait for others that write, in ms.
    static let longPatience: Int32 = 300_000
    var patience = longPatience { didSet { sqlite3_busy_timeout(handle, patience) } }
    /// How long to wait before something is tried again, in ms.
    private static let pause: Int32 = 10

    /// - Parameter creates: whether the file is made if it is not there.
    init(path: String, creates: Bool) throws(HistoryError) {
        self.path = path
        _ = SQLiteDatabase.survivesLimits
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
        let opened = try SQLiteDatabase.open(path, flags, for: path)
        if SQLiteDatabase.canBeRead(opened) {
            (handle, copy) = (opened, nil)
        } else {
            // The file needs others beside it, and its directory cannot be written.
            sqlite3_close_v2(opened)
            (handle, copy) = try SQLiteDatabase.openUnwritable(path)
        }
        sqlite3_busy_timeout(handle, patience)
    }

    private static func open(
        _ name: String, _ flags: Int32, for path: String
    ) throws(HistoryError) -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .failed(path: path, reason: reason)
        }
        sqlite3_busy_timeout(opened, longPatience)
        return opened
    }

    private static func canBeRead(_ handle: OpaquePointer) -> Bool {
        let code = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        return ![SQLITE_CANTOPEN, SQLITE_READONLY].contains(code & 0xff)
    }

    /// Opens a file with a log that was left beside it, or that is to be there. Without one, nobody is writing, and the file alone
    /// is read; else a copy of both.
    private static func openUnwritable(_ path: String) throws(HistoryError) -> (OpaquePointer, copy: String?) {
        var log = stat()
        if stat(path + "-wal", &log) != 0 || log.st_size == 0 {
            let name = path.utf8.map { byte in
                let isPlain = byte > 0x20 && byte < 0x7f && !"%?#".utf8.contains(byte)
                let digits = String(byte, radix: 16)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
            }.joined()
            let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            return (try open("file:\(name)?immutable=1", flags, for: path), nil)
        }
        let copy: String
        do throws(SystemError) { copy = try Directory.makeTemporary("fathom-history") + "/history" } catch {
            throw .failed(path: path, reason: error.description)
        }
        do throws(HistoryError) {
            for end in ["", "-wal"] { try SQLiteDatabase.copy(path + end, to: copy + end, for: path) }
            return (try open(copy, SQLITE_OPEN_READWRITE, for: path), copy)
        } catch {
            removeCopy(copy)
            throw error
        }
    }

    private static func copy(_ source: String, to copy: String, for path: String) throws(HistoryError) {
        let from = fopen(source, "re"), to = fopen(copy, "wxe")
        defer {
            if let from { fclose(from) }
        }
        var block = [UInt8](repeating: 0, count: 1 << 16), isWhole = from != nil && to != nil
        while let from, let to, isWhole {
            let count = fread(&block, 1, block.count, from)
            if count == 0 { break }
            isWhole = fwrite(block, 1, count, to) == count
        }
        if let from, ferror(from) != 0 { isWhole = false }
        if let to, fclose(to) != 0 { isWhole = false }
        guard isWhole else { throw .failed(path: path, reason: "\(copy): \(String(cString: strerror(errno)))") }
    }

    private static func removeCopy(_ copy: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(copy + end) }
        rmdir(copy.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 })
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
        if let copy { SQLiteDatabase.removeCopy(copy) }
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
        let end = SystemClock.monotonic + UInt64(patience) * 1_000_000
        while true {
            do throws(HistoryError) {
                return try body()
            } catch {
                guard case .busy = error, SystemClock.monotonic < end else { throw error }
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
