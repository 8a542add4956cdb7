/// The tables of a history, and how they came to be.
///
///     run            a row for each run
///     label          what people said of a run, as version=1.2
///     module         files that calls were of, by build-id; run_module says which runs had them
///     function       functions of all runs: module's file name and name
///     path           call paths of all runs: 1,024 of them in a row, each by its caller's number and its function's
///     function_sums  what the calls of functions add up to: a row (a tile) for 32 functions of one run
///     path_sums      likewise of paths
///     moment         marks and counters of a run
///     measure        numbers of a run as a whole and of its start, by ``RunMeasure/Kind``
///     allocation     what functions allocated in a run, where that was recorded
///
/// The rows of sums have the key `page << 32 | run`, so that one function's numbers of all runs lie side by side, and a run adds
/// one small row at each place. ``Tile`` has their coding.
enum HistorySchema {
    /// Tells a history from other databases; "FthH".
    static let applicationID: Int64 = 0x4674_6848

    /// What leads from each version to the next one.
    static let steps = [
        """
        CREATE TABLE run(
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, program TEXT NOT NULL,
            command TEXT NOT NULL, session TEXT NOT NULL, host TEXT NOT NULL, cpu TEXT NOT NULL, kernel TEXT NOT NULL,
            recorder TEXT NOT NULL, mode TEXT NOT NULL, calls INTEGER NOT NULL, total INTEGER NOT NULL,
            lost INTEGER NOT NULL, functions INTEGER NOT NULL, paths INTEGER NOT NULL);
        CREATE INDEX run_time ON run(time);
        CREATE TABLE label(
            run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY(run, name)) WITHOUT ROWID;
        CREATE TABLE function(
            id INTEGER PRIMARY KEY, module TEXT, name TEXT NOT NULL);
        CREATE TABLE path(page INTEGER PRIMARY KEY, data BLOB NOT NULL);
        CREATE TABLE function_sums(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        CREATE TABLE path_sums(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        """,
        """
        CREATE TABLE module(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT NOT NULL, UNIQUE(path, build_id));
        CREATE TABLE run_module(
            run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, module INTEGER NOT NULL REFERENCES module(id),
            PRIMARY KEY(run, module)) WITHOUT ROWID;
        CREATE TABLE moment(
            run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, kind INTEGER NOT NULL, name TEXT NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, value REAL NOT NULL,
            greatest REAL NOT NULL, PRIMARY KEY(run, kind, name)) WITHOUT ROWID;
        """,
        """
        CREATE TABLE measure(
            run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, place INTEGER NOT NULL, kind INTEGER NOT NULL,
            name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY(run, place)) WITHOUT ROWID;
        CREATE TABLE allocation(
            run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, function INTEGER NOT NULL, blocks INTEGER NOT NULL,
            bytes INTEGER NOT NULL, PRIMARY KEY(run, function)) WITHOUT ROWID;
        """,
    ]

    /// The version that this code reads and writes.
    static var version: Int { steps.count }

    /// Makes the database what this code knows.
    ///
    /// - Parameter version: only for tests of older versions.
    static func migrate(_ database: SQLiteDatabase, to version: Int = version) throws(HistoryError) {
        // Of one moment: others may make the tables meanwhile.
        let found = try database.read { () throws(HistoryError) in try self.found(in: database) }
        if found == version { return }
        try database.write { () throws(HistoryError) in
            // Somebody else may have done it meanwhile.
            let found = try self.found(in: database)
            guard found < version else { return }
            for step in steps[found..<version] { try database.run(step) }
            try database.run("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    private static func found(in database: SQLiteDatabase) throws(HistoryError) -> Int {
        let identity = try database.number("PRAGMA application_id")
        let found = try database.number("PRAGMA user_version")
        if identity == 0, found == 0, try database.number("SELECT count(*) FROM sqlite_schema") == 0 { return 0 }
        guard identity == applicationID else { throw .notAHistory(path: database.path) }
        guard found <= version else {
            throw .newer(path: database.path, found: Int(found), known: version)
        }
        return Int(found)
    }
}
