internal import TraceAnalysis
internal import TraceText

/// A table of call paths: one row each, times in ns.
///
/// `path` is the functions from the root joined by `;`; `caller` is the `id` of the caller's path, -1 for roots.
/// `min_ns` is 0 for a path without calls, which has only calls that were entered before a fork. Callees that are not
/// shown are rows named as ``PathRemainder`` says, with ids behind those of the paths. Their shortest, longest, first
/// and last are not known: the first two are 0, the others those of the caller. So the self times of all rows add up to
/// the totals of the roots.
struct ParquetExporter: Exporter {
    private static let columns: [(name: String, kind: ParquetFile.Kind)] = [
        ("id", .integer), ("caller", .integer), ("depth", .integer), ("path", .text), ("name", .text),
        ("module", .text), ("file", .text), ("line", .integer), ("calls", .integer), ("total_ns", .integer),
        ("self_ns", .integer), ("min_ns", .integer), ("max_ns", .integer), ("first_start_ns", .integer),
        ("last_end_ns", .integer),
    ]
    /// A group of rows is written when it has this many rows, or its paths this many bytes, because pages must be under
    /// 2 GiB.
    private static let groupRows = 1 << 16
    private static let groupBytes = 1 << 26

    func refusal(_ source: ExportSource) -> String? {
        let tree = source.callPaths()
        // A row has eleven integers and the lengths of four texts.
        let fixed: UInt64 = 11 * 8 + 4 * 4
        let rest = fixed + UInt64(PathRemainder.notRecorded.name.utf8.count)
        return PathFileSize(tree, minTotal: source.filter.minCost, remainder: rest) { path in
            let function = tree.functions[path.function]
            let texts = [function.name, function.module ?? "", function.file ?? ""]
            return texts.reduce(fixed) { $0 + UInt64($1.utf8.count) }
        }.refusal()
    }

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let tree = source.callPaths()
        let empty = [ParquetFile.Column](repeating: ParquetFile.Column(), count: ParquetExporter.columns.count)
        var file = ParquetFile(writer, columns: ParquetExporter.columns)
        var group = empty
        var rows = 0
        var pathBytes = 0
        var written = 0
        var prefix: [UInt8] = []
        var ends: [Int] = []
        func add(
            _ id: Int, caller: Int32, depth: UInt32, path: [UInt8], _ function: ResolvedFunction, _ sums: CallPathSums
        ) {
            group[0].add(Int64(id))
            group[1].add(Int64(caller))
            group[2].add(Int64(depth))
            group[3].add(path)
            group[4].add(function.name.utf8)
            group[5].add((function.module ?? "").utf8)
            group[6].add((function.file ?? "").utf8)
            group[7].add(Int64(function.line))
            let numbers = [
                sums.calls, sums.total, sums.selfTime, sums.minimum == .max ? 0 : sums.minimum, sums.maximum,
                sums.firstStart, sums.lastEnd,
            ]
            for (column, number) in zip(8..., numbers) { group[column].add(Int64(clamping: number)) }
            rows += 1
            pathBytes += path.count
            written += 1
            if rows == ParquetExporter.groupRows || pathBytes > ParquetExporter.groupBytes {
                file.write(group: group, rows: rows)
                (group, rows, pathBytes) = (empty, 0, 0)
            }
        }
        var nextID = tree.paths.count
        tree.forEachPath(minTotal: source.filter.minCost) { exported in
            let path = exported.path
            let function = tree.functions[path.function]
            ends.removeLast(ends.count - Int(path.depth))
            prefix.removeLast(prefix.count - (ends.last ?? 0))
            if !prefix.isEmpty { prefix.append(UInt8(ascii: ";")) }
            prefix += function.name.utf8
            ends.append(prefix.count)
            add(exported.index, caller: path.parent, depth: path.depth, path: prefix, function, path.sums)
            for (kind, sum) in exported.remainders {
                var sums = CallPathSums()
                (sums.calls, sums.total, sums.selfTime) = (sum.calls, sum.time, sum.time)
                (sums.firstStart, sums.lastEnd) = (path.sums.firstStart, path.sums.lastEnd)
                add(
                    nextID, caller: Int32(exported.index), depth: path.depth + 1,
                    path: prefix + Array(";\(kind.name)".utf8),
                    ResolvedFunction(name: kind.name, module: nil, file: nil, line: 0), sums)
                nextID += 1
            }
        }
        if rows > 0 { file.write(group: group, rows: rows) }
        file.finish()
        return ExportSummary(written: written)
    }
}
