internal import TraceAnalysis
internal import TraceReports

/// A table of call paths: one row each, times in ns.
///
/// `path` is the functions from the root joined by `;`; `caller` is the `id` of the caller's path, -1 for roots. `min_ns`
/// is 0 for a path without calls, which has only what was entered before a fork.
struct ParquetExporter: Exporter {
    private static let columns: [(name: String, kind: ParquetFile.Kind)] = [
        ("id", .integer), ("caller", .integer), ("depth", .integer), ("path", .text), ("name", .text),
        ("module", .text), ("file", .text), ("line", .integer), ("calls", .integer), ("total_ns", .integer),
        ("self_ns", .integer), ("min_ns", .integer), ("max_ns", .integer), ("first_start_ns", .integer),
        ("last_end_ns", .integer),
    ]
    /// A group of rows is written when it has this many, or its paths this many bytes: pages are under 2 GiB.
    private static let groupRows = 1 << 16
    private static let groupBytes = 1 << 26

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
        tree.forEachPath(minTotal: source.filter.minCost) { index, path in
            let function = tree.functions[path.function]
            ends.removeLast(ends.count - Int(path.depth))
            prefix.removeLast(prefix.count - (ends.last ?? 0))
            if !prefix.isEmpty { prefix.append(UInt8(ascii: ";")) }
            prefix += function.name.utf8
            ends.append(prefix.count)

            let sums = path.sums
            group[0].add(Int64(index))
            group[1].add(Int64(path.parent))
            group[2].add(Int64(path.depth))
            group[3].add(prefix)
            group[4].add(function.name.utf8)
            group[5].add((function.module ?? "").utf8)
            group[6].add((function.file ?? "").utf8)
            group[7].add(Int64(function.line))
            let numbers = [
                sums.calls, sums.total, sums.selfTime, sums.calls == 0 ? 0 : sums.minimum, sums.maximum,
                sums.firstStart, sums.lastEnd,
            ]
            for (column, number) in zip(8..., numbers) { group[column].add(Int64(clamping: number)) }
            rows += 1
            pathBytes += prefix.count
            written += 1
            if rows == ParquetExporter.groupRows || pathBytes > ParquetExporter.groupBytes {
                file.write(group: group, rows: rows)
                (group, rows, pathBytes) = (empty, 0, 0)
            }
        }
        if rows > 0 { file.write(group: group, rows: rows) }
        file.finish()
        return ExportSummary(written: written)
    }
}
