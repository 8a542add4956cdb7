public import TraceAnalysis

extension HistoryStore {
    /// The functions of all runs; the call paths only when they are asked for.
    public func catalog(paths: Bool = false) throws(HistoryError) -> PathCatalog {
        try PathCatalog(database, needsPaths: paths)
    }

    /// What the calls of a function add up to in each run that has it, by the run's number.
    ///
    /// - Parameter durations: whether it is asked how long calls took, and not only their sums.
    /// - Complexity: O(runs of the history).
    public func sums(ofFunction id: UInt32, durations: Bool = false) throws(HistoryError) -> [Int64: SubjectSums] {
        try sums(of: id, in: .functions, durations)
    }

    /// The same for a call path.
    public func sums(ofPath id: UInt32, durations: Bool = false) throws(HistoryError) -> [Int64: SubjectSums] {
        try sums(of: id, in: .paths, durations)
    }

    private func sums(
        of id: UInt32, in table: Table, _ durations: Bool
    ) throws(HistoryError) -> [Int64: SubjectSums] {
        let rows = try database.statement("SELECT id, data FROM \(table.rawValue) WHERE id >= ? AND id < ?")
        defer { rows.reset() }
        let page = Int64(id) / Int64(Tile.width)
        rows.bind(1, page << 32)
        rows.bind(2, (page + 1) << 32)
        var sums: [Int64: SubjectSums] = [:]
        while try rows.step() {
            let found = rows.withBytes(1) { Tile.sums(at: Int(id) % Tile.width, in: $0, wantsDurations: durations) }
            switch found {
            case .sums(let found): sums[rows.integer(0) & 0xffff_ffff] = found
            case .absent: continue
            case .damaged: throw damagedSums
            }
        }
        return sums
    }

    /// Passes what the calls of every function add up to in each of `runs`, without how long they took.
    ///
    /// - Complexity: O(functions · runs of the history).
    public func forEachFunction(
        of runs: Set<Int64>, _ body: (_ function: UInt32, _ run: Int64, _ sums: SubjectSums) -> Void
    ) throws(HistoryError) {
        let rows = try database.statement("SELECT id, data FROM function_sums ORDER BY id")
        defer { rows.reset() }
        while try rows.step() {
            let (page, run) = (rows.integer(0) >> 32, rows.integer(0) & 0xffff_ffff)
            guard runs.contains(run) else { continue }
            guard let members = rows.withBytes(1, { Tile.all(in: $0) }) else { throw damagedSums }
            for (place, sums) in members { body(UInt32(page) * UInt32(Tile.width) + UInt32(place), run, sums) }
        }
    }

    /// Passes what the calls of every path add up to in one run.
    ///
    /// - Complexity: O(paths of the history).
    func forEachPath(of run: Int64, _ body: (_ path: UInt32, _ sums: SubjectSums) -> Void) throws(HistoryError) {
        for (id, sums) in try members(of: run, in: .paths) { body(id, sums) }
    }

    /// When `mark` was first set, in ns since the run's start, by the run's number.
    public func moments(ofMark name: String) throws(HistoryError) -> [Int64: UInt64] {
        let rows = try database.statement("SELECT run, first FROM moment WHERE kind = 1 AND name = ?")
        defer { rows.reset() }
        rows.bind(1, name)
        var moments: [Int64: UInt64] = [:]
        while try rows.step() { moments[rows.integer(0)] = UInt64(bitPattern: rows.integer(1)) }
        return moments
    }

    /// The value that a counter had last, by the run's number.
    public func values(ofCounter name: String) throws(HistoryError) -> [Int64: Double] {
        let rows = try database.statement("SELECT run, value FROM moment WHERE kind = 2 AND name = ?")
        defer { rows.reset() }
        rows.bind(1, name)
        var values: [Int64: Double] = [:]
        while try rows.step() { values[rows.integer(0)] = rows.number(1) }
        return values
    }

    /// The names of all marks or counters.
    public func eventNames(counters: Bool) throws(HistoryError) -> [String] {
        let rows = try database.statement("SELECT DISTINCT name FROM moment WHERE kind = ? ORDER BY name")
        defer { rows.reset() }
        rows.bind(1, Int64(counters ? 2 : 1))
        var names: [String] = []
        while try rows.step() { names.append(rows.text(0) ?? "") }
        return names
    }

    /// The files that the calls of a run were of.
    public func modules(of run: Int64) throws(HistoryError) -> [RunContent.Module] {
        let rows = try database.statement(
            "SELECT path, build_id FROM module JOIN run_module ON module = id WHERE run = ? ORDER BY path")
        defer { rows.reset() }
        rows.bind(1, run)
        var modules: [RunContent.Module] = []
        while try rows.step() {
            modules.append(RunContent.Module(path: rows.text(0) ?? "", buildID: rows.text(1) ?? ""))
        }
        return modules
    }

    /// All that is kept of a run.
    ///
    /// - Complexity: O(functions and paths of the history).
    public func content(of run: Int64, _ catalog: PathCatalog) throws(HistoryError) -> RunContent {
        var content = RunContent()
        var functions = [Int?](repeating: nil, count: catalog.functions.count)
        for (id, sums) in try members(of: run, in: .functions) {
            guard Int(id) < functions.count else { throw damagedSums }
            functions[Int(id)] = content.functions.count
            content.functions.append(RunContent.Function(identity: catalog.functions[Int(id)], sums: sums))
        }
        var paths = [Int?](repeating: nil, count: catalog.paths.count)
        for (id, sums) in try members(of: run, in: .paths) {
            guard Int(id) < paths.count, let function = functions[Int(catalog.paths[Int(id)].function)] else {
                throw damagedSums
            }
            let caller = catalog.paths[Int(id)].caller
            guard let index = caller == 0 ? -1 : paths[Int(caller - 1)] else { throw damagedSums }
            paths[Int(id)] = content.paths.count
            content.paths.append(RunContent.Path(caller: index, function: function, sums: sums))
        }
        content.modules = try modules(of: run)
        content.events = try events(of: run)
        content.measures = try measures(of: run)
        for (function, allocations, bytes) in try allocations(of: run) {
            guard Int(function) < functions.count, let index = functions[Int(function)] else { throw damagedSums }
            content.functions[index].allocations = allocations
            content.functions[index].allocatedBytes = bytes
        }
        return content
    }

    private func members(of run: Int64, in table: Table) throws(HistoryError) -> [(id: UInt32, sums: SubjectSums)] {
        let row = try database.statement("SELECT data FROM \(table.rawValue) WHERE id = ?")
        let last = try database.number("SELECT coalesce(max(id), -1) >> 32 FROM \(table.rawValue)")
        var members: [(id: UInt32, sums: SubjectSums)] = []
        for page in 0...max(last, 0) {
            row.bind(1, page << 32 | run)
            defer { row.reset() }
            guard try row.step() else { continue }
            guard let tile = row.withBytes(0, { Tile.all(in: $0) }) else { throw damagedSums }
            for (place, sums) in tile { members.append((UInt32(page) * UInt32(Tile.width) + UInt32(place), sums)) }
        }
        return members
    }

    /// The marks and counters of a run.
    public func events(of run: Int64) throws(HistoryError) -> ProgramEvents {
        let rows = try database.statement(
            "SELECT kind, name, first, last, count, value, greatest FROM moment WHERE run = ?")
        defer { rows.reset() }
        rows.bind(1, run)
        var events = ProgramEvents()
        while try rows.step() {
            let (first, last) = (UInt64(bitPattern: rows.integer(2)), UInt64(bitPattern: rows.integer(3)))
            let (name, count) = (rows.text(1) ?? "", UInt64(bitPattern: rows.integer(4)))
            if rows.integer(0) == 1 {
                events.marks[name] = ProgramEvents.Mark(first: first, last: last, count: count)
            } else {
                events.counters[name] = ProgramEvents.Counter(
                    value: rows.number(5), greatest: rows.number(6), count: count, moment: last)
            }
        }
        return events
    }

    // MARK: Measures

    /// All measures that runs have, each once.
    public func measures() throws(HistoryError) -> [RunMeasure] {
        let rows = try database.statement("SELECT DISTINCT kind, name FROM measure ORDER BY kind, name")
        defer { rows.reset() }
        var measures: [RunMeasure] = []
        while try rows.step() {
            // A newer version of the same tables may know more kinds.
            guard let kind = RunMeasure.Kind(rawValue: rows.integer(0)) else { continue }
            measures.append(RunMeasure(kind, rows.text(1) ?? ""))
        }
        return measures
    }

    /// A measure's values, by the run's number.
    func values(of measure: RunMeasure) throws(HistoryError) -> [Int64: Double] {
        let rows = try database.statement("SELECT run, value FROM measure WHERE kind = ? AND name = ?")
        defer { rows.reset() }
        rows.bind(1, measure.kind.rawValue)
        rows.bind(2, measure.name)
        var values: [Int64: Double] = [:]
        while try rows.step() { values[rows.integer(0)] = Double(UInt64(bitPattern: rows.integer(1))) }
        return values
    }

    private func measures(of run: Int64) throws(HistoryError) -> [(measure: RunMeasure, value: UInt64)] {
        let rows = try database.statement("SELECT kind, name, value FROM measure WHERE run = ? ORDER BY place")
        defer { rows.reset() }
        rows.bind(1, run)
        var measures: [(measure: RunMeasure, value: UInt64)] = []
        while try rows.step() {
            guard let kind = RunMeasure.Kind(rawValue: rows.integer(0)) else { continue }
            measures.append((RunMeasure(kind, rows.text(1) ?? ""), UInt64(bitPattern: rows.integer(2))))
        }
        return measures
    }

    private func allocations(
        of run: Int64
    ) throws(HistoryError) -> [(function: UInt32, blocks: UInt64, bytes: UInt64)] {
        let rows = try database.statement("SELECT function, blocks, bytes FROM allocation WHERE run = ?")
        defer { rows.reset() }
        rows.bind(1, run)
        var found: [(function: UInt32, blocks: UInt64, bytes: UInt64)] = []
        while try rows.step() {
            found.append(
                (
                    UInt32(clamping: rows.integer(0)), UInt64(bitPattern: rows.integer(1)),
                    UInt64(bitPattern: rows.integer(2))
                ))
        }
        return found
    }

    private var damagedSums: HistoryError { .damaged(path: path, what: "the sums of a run") }
}
