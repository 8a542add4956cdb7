internal import TraceAnalysis

extension HistoryStore {
    /// Adds a run.
    ///
    /// - Parameter run: its `id` does not matter.
    /// - Returns: its number, and whether it is new; a run that is there already stays as it is.
    /// - Complexity: O(paths), and O(functions and paths of the history) to number them.
    public func add(_ run: HistoryRun, _ content: RunContent) throws(HistoryError) -> (id: Int64, isNew: Bool) {
        try write { () throws(HistoryError) in
            let known = try database.statement("SELECT id FROM run WHERE key = ?")
            known.bind(1, run.key)
            defer { known.reset() }
            if try known.step() { return (known.integer(0), false) }
            var catalog = try PathCatalog(database, needsPaths: true)
            let functions = content.functions.map { catalog.add($0.identity) }
            var paths: [UInt32] = []
            paths.reserveCapacity(content.paths.count)
            for path in content.paths {
                let caller = path.caller < 0 ? 0 : paths[path.caller] + 1
                paths.append(catalog.number(ofCaller: caller, function: functions[path.function]))
            }
            try catalog.write(to: database)
            let id = try insert(run, content)
            try insert(
                content.functions.indices.map { (functions[$0], content.functions[$0].sums) }, of: id, .functions)
            try insert(content.paths.indices.map { (paths[$0], content.paths[$0].sums) }, of: id, .paths)
            try insert(content.modules, of: id)
            try insert(content.events, of: id)
            try insert(content.measures, of: id)
            try insertAllocations(
                content.functions.indices.map { (functions[$0], content.functions[$0]) }, of: id)
            return (id, true)
        }
    }

    private func insert(_ run: HistoryRun, _ content: RunContent) throws(HistoryError) -> Int64 {
        let id = try database.number("SELECT coalesce(max(id), 0) + 1 FROM run")
        let marks = repeatElement("?", count: 16).joined(separator: ", ")
        let row = try database.statement("INSERT INTO run(\(HistoryStore.columns)) VALUES(\(marks))")
        row.bind(1, id)
        row.bind(2, run.key)
        row.bind(3, Int64(bitPattern: run.time))
        let texts = [
            run.program, run.command, run.session, run.host, run.cpu, run.kernel, run.recorder, run.mode.rawValue,
        ]
        for (index, text) in texts.enumerated() { row.bind(Int32(4 + index), text) }
        for (index, number) in [run.calls, run.total, run.lost].enumerated() {
            row.bind(Int32(12 + index), Int64(bitPattern: number))
        }
        row.bind(15, Int64(content.functions.count))
        row.bind(16, Int64(content.paths.count))
        try row.run()
        let label = try database.statement("INSERT OR REPLACE INTO label VALUES(?, ?, ?)")
        for (name, value) in run.labels {
            label.bind(1, id)
            label.bind(2, name)
            label.bind(3, value)
            try label.run()
        }
        return id
    }

    /// Writes the tiles of one run.
    private func insert(
        _ sums: [(number: UInt32, sums: SubjectSums)], of run: Int64, _ table: Table
    ) throws(HistoryError) {
        let row = try database.statement("INSERT INTO \(table.rawValue) VALUES(?, ?)")
        let order = sums.indices.sorted { sums[$0].number < sums[$1].number }
        var members: [(place: Int, sums: SubjectSums)] = []
        for (position, index) in order.enumerated() {
            let number = Int(sums[index].number)
            members.append((number % Tile.width, sums[index].sums))
            let page = number / Tile.width
            let isLast = position + 1 == order.count || Int(sums[order[position + 1]].number) / Tile.width != page
            guard isLast else { continue }
            row.bind(1, Int64(page) << 32 | run)
            row.bind(2, Tile.encode(members))
            try row.run()
            members.removeAll(keepingCapacity: true)
        }
    }

    private func insert(_ modules: [RunContent.Module], of run: Int64) throws(HistoryError) {
        let add = try database.statement("INSERT OR IGNORE INTO module(path, build_id) VALUES(?, ?)")
        let join = try database.statement(
            "INSERT OR IGNORE INTO run_module SELECT ?, id FROM module WHERE path = ? AND build_id = ?")
        for module in modules {
            add.bind(1, module.path)
            add.bind(2, module.buildID)
            try add.run()
            join.bind(1, run)
            join.bind(2, module.path)
            join.bind(3, module.buildID)
            try join.run()
        }
    }

    private func insert(_ events: ProgramEvents, of run: Int64) throws(HistoryError) {
        let row = try database.statement("INSERT INTO moment VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
        func insert(
            _ kind: MomentKind, _ name: String, _ moments: (UInt64, UInt64), _ count: UInt64, _ values: (Double, Double)
        ) throws(HistoryError) {
            row.bind(1, run)
            row.bind(2, kind.rawValue)
            row.bind(3, name)
            row.bind(4, Int64(bitPattern: moments.0))
            row.bind(5, Int64(bitPattern: moments.1))
            row.bind(6, Int64(bitPattern: count))
            row.bind(7, values.0)
            row.bind(8, values.1)
            try row.run()
        }
        for (name, mark) in events.marks { try insert(.mark, name, (mark.first, mark.last), mark.count, (0, 0)) }
        for (name, counter) in events.counters {
            try insert(
                .counter, name, (counter.moment, counter.moment), counter.count, (counter.value, counter.greatest))
        }
    }

    private func insert(
        _ measures: [(measure: RunMeasure, value: UInt64)], of run: Int64
    ) throws(HistoryError) {
        let row = try database.statement("INSERT INTO measure VALUES(?, ?, ?, ?, ?)")
        for (place, (measure, value)) in measures.enumerated() {
            row.bind(1, run)
            row.bind(2, Int64(place))
            row.bind(3, measure.kind.rawValue)
            row.bind(4, measure.name)
            row.bind(5, Int64(bitPattern: value))
            try row.run()
        }
    }

    private func insertAllocations(
        _ functions: [(id: UInt32, function: RunContent.Function)], of run: Int64
    ) throws(HistoryError) {
        let row = try database.statement("INSERT INTO allocation VALUES(?, ?, ?, ?)")
        for (id, function) in functions where function.allocations > 0 {
            row.bind(1, run)
            row.bind(2, Int64(id))
            row.bind(3, Int64(bitPattern: function.allocations))
            row.bind(4, Int64(bitPattern: function.allocatedBytes))
            try row.run()
        }
    }

    enum MomentKind: Int64 {
        case mark = 1
        case counter = 2
    }
}
