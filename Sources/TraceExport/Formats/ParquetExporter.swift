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
    private static let columns: [ParquetColumn] =
        [.integer("id"), .integer("caller")] + ParquetThread.columns + [.integer("depth"), .text("path")]
        + ParquetFunction.columns
        + ["calls", "total_ns", "self_ns", "min_ns", "max_ns", "first_start_ns", "last_end_ns"].map(
            ParquetColumn.integer)

    func refusal(_ source: ExportSource) -> String? {
        // A row has thirteen integers, the length of its path, and the numbers of its words.
        let fixed: UInt64 = 13 * 8 + 4 + 5 * 2
        var size = PathFileSize()
        source.forEachGroup { _, tree in
            size.add(tree, minTotal: source.filter.minCost, remainder: fixed) { _ in fixed }
        }
        return size.refusal(isCompressed: true)
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
    private var functions = ParquetFunctions()
    private var id = 0

    init(_ file: ParquetFile) { self.file = file }

    mutating func write(_ tree: CallPathTree, of group: ThreadGroup, minTotal: UInt64) {
        let thread = ParquetThread(group.process, tid: group.tid ?? 0, name: group.name, &file.words)
        let first = id
        var prefix: [UInt8] = []
        var ends: [Int] = []
        id += tree.paths.count
        tree.forEachPath(minTotal: minTotal) { exported in
            let path = exported.path
            let function = tree.functions[path.function]
            ends.removeLast(ends.count - Int(path.depth))
            prefix.removeLast(prefix.count - (ends.last ?? 0))
            if !prefix.isEmpty { prefix.append(UInt8(ascii: ";")) }
            prefix += function.name.utf8
            ends.append(prefix.count)
            let known = functions.function(path.function, function, &file.words)
            let place = first + exported.index
            let caller = path.parent < 0 ? -1 : first + Int(path.parent)
            add(Row(id: place, caller: caller, depth: path.depth, path: prefix), known, of: thread, path.sums)
            for (kind, sum) in exported.remainders {
                var sums = CallPathSums()
                (sums.calls, sums.total, sums.selfTime) = (sum.calls, sum.time, sum.time)
                (sums.firstStart, sums.lastEnd) = (path.sums.firstStart, path.sums.lastEnd)
                let unknown = ResolvedFunction(name: kind.name, module: nil, file: nil, line: 0)
                let row = Row(id: id, caller: place, depth: path.depth + 1, path: prefix + Array(";\(kind.name)".utf8))
                add(row, ParquetFunction(unknown, &file.words), of: thread, sums)
                id += 1
            }
        }
    }

    private struct Row {
        var id: Int
        var caller: Int
        var depth: UInt32
        var path: [UInt8]
    }

    private mutating func add(_ row: Row, _ function: ParquetFunction, of thread: ParquetThread, _ sums: CallPathSums) {
        file.add(signed: row.id)
        file.add(signed: row.caller)
        file.add(thread)
        file.add(UInt64(row.depth))
        file.add(text: row.path)
        file.add(function)
        file.add(sums.calls)
        file.add(sums.total)
        file.add(sums.selfTime)
        file.add(sums.minimum == .max ? 0 : sums.minimum)
        file.add(sums.maximum)
        file.add(sums.firstStart)
        file.add(sums.lastEnd)
        file.endRow()
    }
}
