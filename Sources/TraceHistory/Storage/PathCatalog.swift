public import TraceAnalysis
internal import TraceText

/// The functions and call paths of all runs of a history by number. Callers have lower numbers than their callees.
public struct PathCatalog {
    public typealias Identity = IdentifiedFunctions.Identity

    public private(set) var functions: [Identity] = []
    /// By path: one more than the caller's number, 0 for a root; and the function's number.
    public private(set) var paths: [(caller: UInt32, function: UInt32)] = []
    private var functionIDs: [Identity: UInt32] = [:]
    private var pathIDs: [UInt64: UInt32] = [:]
    /// How many functions and paths the file has already.
    private var keptFunctions = 0
    private var keptPaths = 0

    /// How many paths a row holds.
    private static let pageSize = 1024

    /// An empty one.
    init() {}

    /// Reads the catalog.
    ///
    /// - Parameter needsPaths: whether paths are asked for, and not only functions.
    /// - Complexity: O(functions + paths).
    init(_ database: SQLiteDatabase, needsPaths: Bool) throws(HistoryError) {
        let rows = try database.statement("SELECT id, module, name FROM function ORDER BY id")
        while try rows.step() {
            guard rows.integer(0) == Int64(functions.count) else {
                throw .damaged(path: database.path, what: "the numbers of functions")
            }
            add(Identity(module: rows.text(1), name: rows.text(2) ?? ""))
        }
        rows.reset()
        keptFunctions = functions.count
        guard needsPaths else { return }
        let pages = try database.statement("SELECT page, data FROM path ORDER BY page")
        defer { pages.reset() }
        while try pages.step() {
            let isRead =
                pages.integer(0) == Int64(paths.count / PathCatalog.pageSize) && pages.withBytes(1) { take($0) }
            guard isRead else { throw .damaged(path: database.path, what: "the call paths") }
        }
        keptPaths = paths.count
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = LEB128Reader(bytes)
        while reader.offset < bytes.count {
            let distance = reader.take(), function = reader.take()
            guard !reader.hasFailed, distance <= UInt64(paths.count), function < UInt64(functions.count) else {
                return false
            }
            let caller = distance == 0 ? 0 : UInt32(paths.count) - UInt32(distance) + 1
            _ = number(ofCaller: caller, function: UInt32(function))
        }
        return true
    }

    /// The number of a function, which is new if it was not there.
    @discardableResult
    mutating func add(_ identity: Identity) -> UInt32 {
        if let known = functionIDs[identity] { return known }
        let id = UInt32(functions.count)
        functions.append(identity)
        functionIDs[identity] = id
        return id
    }

    /// The number of a path, which is new if it was not there.
    ///
    /// - Parameter caller: one more than the caller's number, 0 for none.
    mutating func number(ofCaller caller: UInt32, function: UInt32) -> UInt32 {
        let key = UInt64(caller) << 32 | UInt64(function)
        if let known = pathIDs[key] { return known }
        let id = UInt32(paths.count)
        paths.append((caller, function))
        pathIDs[key] = id
        return id
    }

    /// Writes what is new.
    mutating func write(to database: SQLiteDatabase) throws(HistoryError) {
        if keptFunctions < functions.count {
            let row = try database.statement("INSERT INTO function VALUES(?, ?, ?)")
            for id in keptFunctions..<functions.count {
                row.bind(1, Int64(id))
                row.bind(2, functions[id].module)
                row.bind(3, functions[id].name)
                try row.run()
            }
            keptFunctions = functions.count
        }
        guard keptPaths < paths.count else { return }
        let row = try database.statement("INSERT OR REPLACE INTO path VALUES(?, ?)")
        for page in (keptPaths / PathCatalog.pageSize)...((paths.count - 1) / PathCatalog.pageSize) {
            let start = page * PathCatalog.pageSize
            var bytes: [UInt8] = []
            for id in start..<min(start + PathCatalog.pageSize, paths.count) {
                let (caller, function) = paths[id]
                bytes.append(leb128: caller == 0 ? 0 : UInt64(id) - UInt64(caller) + 1)
                bytes.append(leb128: UInt64(function))
            }
            row.bind(1, Int64(page))
            row.bind(2, bytes)
            try row.run()
        }
        keptPaths = paths.count
    }

    // MARK: Looking up

    /// The names from the root to path `id`.
    public func names(ofPath id: UInt32) -> [String] {
        var names: [String] = []
        var next = id + 1
        while next != 0 {
            let path = paths[Int(next - 1)]
            names.append(functions[Int(path.function)].name)
            next = path.caller
        }
        return names.reversed()
    }
}
