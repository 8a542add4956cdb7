internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// A table of the call paths of each thread: one row each, times in ns.
///
/// `process` and `thread` are names; `tid` is 0 where several threads are one row, as Swift's tasks are (`tasks`). `path` is the
/// functions from the root joined by `;`; `caller` is the `id` of the caller's path, -1 for roots. `min_ns` is 0 for a path
/// without calls, which has only calls that were entered before a fork. Callees that are not shown are rows named as
/// ``PathRemainder`` says. Their shortest, longest, first and last are not known: the first two are 0, the others those
/// of the caller. So the self times of all rows add up to the totals of the roots.
struct ParquetExporter: Exporter {
    private static let columns = [
        ParquetColumn(name: "id", kind: .integer), ParquetColumn(name: "caller", kind: .integer),
        ParquetColumn(name: "pid", kind: .integer), ParquetColumn(name: "process", kind: .word),
        ParquetColumn(name: "tid", kind: .integer), ParquetColumn(name: "thread", kind: .word),
        ParquetColumn(name: "depth", kind: .integer), ParquetColumn(name: "path", kind: .text),
        ParquetColumn(name: "name", kind: .word), ParquetColumn(name: "module", kind: .word),
        ParquetColumn(name: "file", kind: .word), ParquetColumn(name: "line", kind: .integer),
        ParquetColumn(name: "calls", kind: .integer), ParquetColumn(name: "total_ns", kind: .integer),
        ParquetColumn(name: "self_ns", kind: .integer), ParquetColumn(name: "min_ns", kind: .integer),
        ParquetColumn(name: "max_ns", kind: .integer), ParquetColumn(name: "first_start_ns", kind: .integer),
        ParquetColumn(name: "last_end_ns", kind: .integer),
    ]

    func refusal(_ source: ExportSource) -> String? {
        // A row has thirteen integers, the length of its path, and the numbers of its words.
        let fixed: UInt64 = 13 * 8 + 4 + 5 * 2
        var size = PathFileSize()
        source.forEachGroup { _, tree in
            size.add(tree, minTotal: source.filter.minCost, remainder: fixed) { _ in fixed }
        }
        return size.refusal()
    }

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var table = PathTable(ParquetFile(writer, columns: ParquetExporter.columns))
        source.forEachGroup { group, tree in
            table.write(tree, of: group, minTotal: source.filter.minCost)
        }
        table.file.finish()
        return ExportSummary(written: table.file.rows)
    }
}

private struct PathTable {
    var file: ParquetFile
    private var functions = FunctionWords()
    private var id = 0

    init(_ file: ParquetFile) { self.file = file }

    mutating func write(_ tree: CallPathTree, of group: ThreadGroup, minTotal: UInt64) {
        let process = file.words.number(of: group.process.programName.utf8)
        let thread = file.words.number(of: group.name.utf8)
        let first = id
        var prefix: [UInt8] = []
        var ends: [Int] = []
        func add(
            _ id: Int, caller: Int, depth: UInt32, path: [UInt8], _ words: FunctionWords.Words, _ sums: CallPathSums
        ) {
            file.add(0, signed: id)
            file.add(1, signed: caller)
            file.add(2, UInt64(group.process.pid))
            file.add(3, word: process)
            file.add(4, UInt64(group.tid ?? 0))
            file.add(5, word: thread)
            file.add(6, UInt64(depth))
            file.add(7, text: path)
            file.add(8, word: words.name)
            file.add(9, word: words.module)
            file.add(10, word: words.file)
            file.add(11, words.line)
            let numbers = [
                sums.calls, sums.total, sums.selfTime, sums.minimum == .max ? 0 : sums.minimum, sums.maximum,
                sums.firstStart, sums.lastEnd,
            ]
            for (column, number) in zip(12..., numbers) { file.add(column, number) }
            file.endRow()
        }
        id += tree.paths.count
        tree.forEachPath(minTotal: minTotal) { exported in
            let path = exported.path
            let function = tree.functions[path.function]
            ends.removeLast(ends.count - Int(path.depth))
            prefix.removeLast(prefix.count - (ends.last ?? 0))
            if !prefix.isEmpty { prefix.append(UInt8(ascii: ";")) }
            prefix += function.name.utf8
            ends.append(prefix.count)
            let caller = path.parent < 0 ? -1 : first + Int(path.parent)
            let words = functions.words(path.function, function, &file.words)
            add(first + exported.index, caller: caller, depth: path.depth, path: prefix, words, path.sums)
            for (kind, sum) in exported.remainders {
                var sums = CallPathSums()
                (sums.calls, sums.total, sums.selfTime) = (sum.calls, sum.time, sum.time)
                (sums.firstStart, sums.lastEnd) = (path.sums.firstStart, path.sums.lastEnd)
                let unknown = ResolvedFunction(name: kind.name, module: nil, file: nil, line: 0)
                add(
                    id, caller: first + exported.index, depth: path.depth + 1,
                    path: prefix + Array(";\(kind.name)".utf8), FunctionWords.Words(unknown, &file.words), sums)
                id += 1
            }
        }
    }
}

/// The words of functions in a Parquet file, by function id.
struct FunctionWords {
    struct Words {
        var name: UInt32
        var module: UInt32
        var file: UInt32
        var line: UInt64

        init(_ function: ResolvedFunction, _ words: inout ParquetWords) {
            name = words.number(of: function.name.utf8)
            module = words.number(of: (function.module ?? "").utf8)
            file = words.number(of: (function.file ?? "").utf8)
            line = UInt64(max(function.line, 0))
        }
    }

    private var known: [Words?] = []

    /// - Complexity: O(1) for a function seen before.
    mutating func words(_ id: UInt32, _ function: @autoclosure () -> ResolvedFunction, _ words: inout ParquetWords)
        -> Words
    {
        let index = Int(id)
        if index >= known.count { known += Array(repeating: nil, count: index + 1 - known.count) }
        if let known = known[index] { return known }
        let new = Words(function(), &words)
        known[index] = new
        return new
    }
}
