internal import CSQLite

/// A statement and the row that it is at.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private unowned let database: SQLiteDatabase

    /// SQLite copies what is bound.
    private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ handle: OpaquePointer, of database: SQLiteDatabase) {
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    // MARK: Parameters, from 1

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

    func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

    func bind(_ index: Int32, _ text: String?) {
        guard var text else {
            sqlite3_bind_null(handle, index)
            return
        }
        _ = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // Without an address, SQLite would take an empty text for none.
                if let start = characters.baseAddress {
                    sqlite3_bind_text(handle, index, start, Int32(characters.count), SQLiteStatement.copies)
                } else {
                    sqlite3_bind_text(handle, index, "", 0, SQLiteStatement.copies)
                }
            }
        }
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress, !bytes.isEmpty {
                sqlite3_bind_blob(handle, index, start, Int32(bytes.count), SQLiteStatement.copies)
            } else {
                sqlite3_bind_zeroblob(handle, index, 0)
            }
        }
    }

    // MARK: Rows

    /// Goes to the next row; false when there is none.
    func step() throws(HistoryError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = database.error(code)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that returns nothing.
    func run() throws(HistoryError) {
        defer { reset() }
        _ = try step()
    }

    // MARK: Columns, from 0

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func number(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    func text(_ column: Int32) -> String? { sqlite3_column_text(handle, column).map { String(cString: $0) } }

    /// The bytes of a blob, which are there until the next row.
    func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = sqlite3_column_blob(handle, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
