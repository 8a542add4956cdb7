extension CallPathTree {
    /// One row for each function, path, file, module or, of a tree by site, line. Threads have sums of their own: see ``ThreadSums``.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func rows(by grouping: Grouping) -> [AggregateRow] {
        switch grouping {
        case .function: return functionRows { Int(paths[$0].function) }
        case .path:
            let pathRows = PathRows(self)
            return paths.indices.map { pathRows[$0] }
        case .file: return placeRows { functions[$0].file }
        case .line: return placeRows { functions.line(ofCallsOf: $0).map { "\($0.file):\($0.number)" } }
        case .module: return placeRows { functions[$0].module }
        case .thread, .process: return []
        }
    }

    /// One row for each direct caller of the functions that `patterns` match. It adds up the matching calls that the
    /// caller makes.
    public func rows(callersOf patterns: [Pattern]) -> [AggregateRow] { rows(callersOf: matching(patterns)) }

    /// The same of the functions for whose ids `matches` holds.
    public func rows(callersOf matches: (UInt32) -> Bool) -> [AggregateRow] {
        functionRows { index in
            let path = paths[index]
            return matches(path.function) && path.parent >= 0 ? Int(paths[Int(path.parent)].function) : nil
        }
    }

    /// One row for each function that the functions that `patterns` match call directly. It adds up the calls that they
    /// make of it.
    public func rows(calleesOf patterns: [Pattern]) -> [AggregateRow] { rows(calleesOf: matching(patterns)) }

    /// The same of the functions for whose ids `matches` holds.
    public func rows(calleesOf matches: (UInt32) -> Bool) -> [AggregateRow] {
        functionRows { index in
            let path = paths[index]
            return path.parent >= 0 && matches(paths[Int(path.parent)].function) ? Int(path.function) : nil
        }
    }

    /// Tells whether `patterns` match a function's name.
    public func matching(_ patterns: [Pattern]) -> (UInt32) -> Bool { functions.matching(patterns) }

    private func functionRows(_ key: (Int) -> Int?) -> [AggregateRow] {
        var numbers = [Int32](repeating: -1, count: functions.functions.count)
        var subjects: [AggregateRow.Subject] = []
        let keys = paths.indices.map { index -> Int32 in
            guard let function = key(index) else { return -1 }
            if numbers[function] < 0 {
                numbers[function] = Int32(subjects.count)
                subjects.append(.function(UInt32(function)))
            }
            return numbers[function]
        }
        return rows(of: subjects, keys: keys)
    }

    private func placeRows(_ place: (UInt32) -> String?) -> [AggregateRow] {
        var numbers: [String?: Int32] = [:]
        var subjects: [AggregateRow.Subject] = []
        var known = [Int32](repeating: -1, count: functions.functions.count)
        let keys = paths.map { path -> Int32 in
            if known[Int(path.function)] >= 0 { return known[Int(path.function)] }
            let name = place(path.function)
            let number = numbers[name] ?? Int32(subjects.count)
            if number == subjects.count {
                subjects.append(.place(name))
                numbers[name] = number
            }
            known[Int(path.function)] = number
            return number
        }
        return rows(of: subjects, keys: keys)
    }

    /// Adds up paths by row. `keys` has the row of every path, -1 for none.
    private func rows(of subjects: [AggregateRow.Subject], keys: [Int32]) -> [AggregateRow] {
        var sums = [RowSums](repeating: RowSums(), count: subjects.count)
        /// How many paths above the current one belong to each row, and where these paths end.
        var active = [Int32](repeating: 0, count: subjects.count)
        var open: [Int] = []
        let waits = PathWaits(of: self)
        for (index, path) in paths.enumerated() {
            while let last = open.last, Int(paths[last].end) <= index {
                if keys[last] >= 0 { active[Int(keys[last])] -= 1 }
                open.removeLast()
            }
            open.append(index)
            guard keys[index] >= 0 else { continue }
            let row = Int(keys[index])
            var own = path.sums
            if functions.countsSamples, active[row] > 0 { own.calls = 0 }
            sums[row].add(own, isOutermost: active[row] == 0, waits, index)
            active[row] += 1
        }
        let members = pathsByRow(keys, rows: subjects.count)
        var reader = PercentileReader()
        return subjects.indices.map { row in
            for path in members.paths[members.starts[row]..<members.starts[row + 1]] {
                let path = paths[Int(path)]
                reader.add(histograms, path.histogram, of: path.sums)
            }
            return AggregateRow(subjects[row], sums[row], reader.take(of: sums[row]), cost: cost)
        }
    }

    /// Path indices ordered by row, and where the indices of each row begin.
    private func pathsByRow(_ keys: [Int32], rows: Int) -> (starts: [Int], paths: [Int32]) {
        var starts = [Int](repeating: 0, count: rows + 1)
        for key in keys where key >= 0 { starts[Int(key) + 1] += 1 }
        for row in 0..<rows { starts[row + 1] += starts[row] }
        var ends = starts
        var ordered = [Int32](repeating: 0, count: starts[rows])
        for (index, key) in keys.enumerated() where key >= 0 {
            ordered[ends[Int(key)]] = Int32(index)
            ends[Int(key)] += 1
        }
        return (starts, ordered)
    }
}
