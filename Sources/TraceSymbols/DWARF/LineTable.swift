internal import CElfutils

/// The line table of a module: which source line each instruction came from.
struct LineTable {
    /// A row, which holds up to the next one.
    private struct Row {
        var address: UInt64
        /// ``SourceFiles/none`` ends a sequence: nothing is known from here to the next row.
        var file: UInt32
        var line: UInt32

        var isEnd: Bool { file == SourceFiles.none }
    }

    private var rows: [Row] = []
    private var files = SourceFiles()

    /// Reads every compile unit or, given ascending addresses, those that may hold one. O(n log n) in the rows, which compilers
    /// write nearly sorted.
    init(_ units: borrowing DWARFUnits, code: [Range<UInt64>], covering wanted: [UInt64]? = nil) {
        units.forEach(covering: wanted) { unit, _ in append(&unit, code: code) }
        // The sort is stable, so that of several rows for one address the last one holds. The end of a sequence is put
        // before the beginning of the next.
        rows.sort { $0.address != $1.address ? $0.address < $1.address : $0.isEnd && !$1.isEnd }
        files.finish()
    }

    /// The line of the instruction that contains `address`, or of the first that has a line after it. O(log n).
    ///
    /// - Parameter function: the addresses of the function around it. No row counts beyond them: libdw sorts an empty
    ///   row at the end of a sequence behind that end, where it would hold for whatever follows.
    func lookup(_ address: UInt64, in function: Range<UInt64>) -> (file: String, line: Int)? {
        let next = rows.partitioningIndex { $0.address > address }
        for index in [next - 1, next] where rows.indices.contains(index) {
            let row = rows[index]
            if !row.isEnd, function.contains(row.address) { return (files.paths[Int(row.file)], Int(row.line)) }
        }
        return nil
    }

    /// The rows that ``lookup(_:in:)`` needs for what it is asked of functions: within each of `functions`, which ascend, a row
    /// that says what the one before it said is left out.
    ///
    /// - Parameter number: numbers a path.
    func kept(in functions: [KeptModule.Stretch], number: (String) -> UInt32) -> [KeptModule.Row] {
        let files = self.files.paths.map(number)
        var result: [KeptModule.Row] = [], function = 0, last: (function: Int, file: UInt32, line: UInt32)?
        for row in rows {
            while function < functions.count, functions[function].end <= row.address { function += 1 }
            let isInside = function < functions.count && functions[function].start <= row.address
            if isInside, let last, last == (function, row.file, row.line) { continue }
            last = isInside ? (function, row.file, row.line) : nil
            result.append(
                KeptModule.Row(
                    address: row.address, file: row.isEnd ? SourceFiles.none : files[Int(row.file)], line: row.line))
        }
        return result
    }

    /// How many of the lines `wanted` of `file` the code in `range` comes from. O(log n + rows in the range).
    func lineCount(in range: Range<UInt64>, of file: String, among wanted: Range<Int>) -> Int {
        let first = rows.partitioningIndex { $0.address >= range.lowerBound }
        var lines: Set<UInt32> = []
        for row in rows[first...].prefix(while: { $0.address < range.upperBound })
        where !row.isEnd && wanted.contains(Int(row.line)) && files.paths[Int(row.file)] == file {
            lines.insert(row.line)
        }
        return lines.count
    }

    /// Adds a unit's rows, leaving out those of line 0 (code without a place in the source), which take the line
    /// before them.
    private mutating func append(_ unit: inout Dwarf_Die, code: [Range<UInt64>]) {
        var lines: OpaquePointer?
        var count = 0
        guard dwarf_getsrclines(&unit, &lines, &count) == 0, let lines else { return }
        let directory = DWARFUnits.directory(of: &unit)
        // Whether the row is the first of its sequence, and whether the linker kept the sequence.
        var (isFirst, isKept) = (true, true)
        for index in 0..<count {
            guard let row = dwarf_onesrcline(lines, index) else { continue }
            var (address, line, isEnd) = (Dwarf_Addr(0), Int32(0), false)
            dwarf_lineaddr(row, &address)
            dwarf_lineendsequence(row, &isEnd)
            if isFirst { isKept = code.contains { $0.contains(address) } }
            isFirst = isEnd
            guard isKept else { continue }
            if isEnd {
                rows.append(Row(address: address, file: SourceFiles.none, line: 0))
                continue
            }
            dwarf_lineno(row, &line)
            guard line > 0 else { continue }
            let file = files.index(of: dwarf_linesrc(row, nil, nil), in: directory)
            rows.append(Row(address: address, file: file, line: UInt32(line)))
        }
    }
}
