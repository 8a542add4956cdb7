internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
public import TraceHistory
public import TraceText

/// The fleet's tables, as Parquet files: `run` has a row for each run, `stack` for each call path, and `sample` for each call path of
/// a run. Times in ns.
public struct FleetTables {
    private let run: FleetRun

    public init(_ run: FleetRun) { self.run = run }

    /// Why the files are not written, when they would be far too large: each stack names all its callers.
    public var refusal: String? {
        var entries = 0
        for (stack, sums) in zip(run.stacks, run.sums) where sums != nil { entries += stack.depth + 1 }
        guard entries > FleetTables.mostNames else { return nil }
        return
            "the stacks of \(run.stacks.count) call paths have \(entries) names, more than \(FleetTables.mostNames): "
            + "--max-depth makes them fewer"
    }

    /// Two numbers of some two bytes each are written for a name.
    private static let mostNames = 250_000_000

    /// Writes the file of one table.
    public func write(_ table: FleetFile.Table, to writer: ByteWriter) {
        switch table {
        case .run: writeRun(writer)
        case .stack: writeStacks(writer)
        case .sample: writeSamples(writer)
        }
    }

    private func writeRun(_ writer: ByteWriter) {
        var file = ParquetFile(
            writer,
            fields: [
                .value(.integer("run_id")), .value(.moment("time")), .value(.word("version").optional),
                .value(.word("commit").optional), .value(.word("host")), .value(.word("cpu")), .map("labels"),
            ])
        file.add(signed: Int(Int64(bitPattern: run.id)))
        file.add(run.time / 1000)
        for text in [run.version, run.commit] {
            let word = text.map { file.words.number(of: $0) }
            file.add(optionalWord: word)
        }
        for text in [run.host, run.cpu] {
            let word = file.words.number(of: text)
            file.add(word: word)
        }
        let names = run.labels.map { file.words.number(of: $0.name) }
        let values = run.labels.map { file.words.number(of: $0.value) }
        file.add(words: names)
        file.add(words: values)
        file.endRow()
        file.finish()
    }

    private func writeStacks(_ writer: ByteWriter) {
        var file = ParquetFile(
            writer,
            fields: [
                .value(.integer("stack_id")), .list("names", .word), .list("modules", .word), .value(.word("leaf")),
                .value(.integer("depth")),
            ])
        // The words of the callers, by depth.
        var names: [UInt32] = [], modules: [UInt32] = []
        for (stack, sums) in zip(run.stacks, run.sums) {
            // Paths are in pre-order.
            names.removeLast(names.count - stack.depth)
            modules.removeLast(modules.count - stack.depth)
            names.append(file.words.number(of: stack.name))
            modules.append(file.words.number(of: stack.module))
            guard sums != nil else { continue }
            file.add(signed: Int(Int64(bitPattern: stack.id)))
            file.add(words: names)
            file.add(words: modules)
            file.add(word: names[stack.depth])
            file.add(signed: stack.depth)
            file.endRow()
        }
        file.finish()
    }

    private func writeSamples(_ writer: ByteWriter) {
        let times: [ParquetColumn] = ["total_ns", "self_ns", "running_ns", "blocked_ns", "min_ns", "max_ns"].map {
            .integer($0).optional
        }
        var file = ParquetFile(
            writer,
            fields: [.value(.integer("run_id")), .value(.integer("stack_id")), .value(.integer("calls"))]
                + times.map(ParquetField.value) + [.records("hist", [.integer("ns"), .integer("calls")])]
                + ([.word("build_id").optional, .word("file").optional, .integer("line").optional] as [ParquetColumn])
                .map(ParquetField.value))
        let known = run.stacks.indices.lazy.compactMap { [run] index in
            run.sums[index].map { (id: run.stacks[index].id, sums: $0, origin: run.origins[index]) }
        }
        let gone = run.gone.lazy.map { (id: $0.id, sums: $0.sums, origin: FleetRun.Origin()) }
        for (id, sums, origin) in [AnySequence(known), AnySequence(gone)].joined() {
            file.add(signed: Int(Int64(bitPattern: run.id)))
            file.add(signed: Int(Int64(bitPattern: id)))
            file.add(signed: Int(sums.calls))
            file.add(optional: run.keepsTimes ? sums.total : nil)
            file.add(optional: run.keepsTimes ? sums.selfTime : nil)
            file.add(optional: run.keepsWaits ? sums.running : nil)
            file.add(optional: run.keepsWaits ? sums.blocked : nil)
            file.add(optional: sums.minimum.map { Int64(clamping: $0) })
            file.add(optional: sums.maximum.map { Int64(clamping: $0) })
            file.add(list: sums.durations.map { Int64(clamping: DurationCounts.middle(of: $0.bucket)) })
            file.add(list: sums.durations.map(\.calls))
            for text in [origin.buildID, origin.file] {
                let word = text.map { file.words.number(of: $0) }
                file.add(optionalWord: word)
            }
            file.add(optional: origin.line.map { Int64($0) })
            file.endRow()
        }
        file.finish()
    }
}

extension ExportSource {
    /// The calls of this source as rows of the fleet's tables.
    public func fleetRun(labels: [(name: String, value: String)]) -> FleetRun {
        var run = FleetRun(of: session, labels: labels)
        let content = RunContent(callPaths(), program: session.processes.first?.path)
        run.take(content, minTotal: filter.minCost)
        return run
    }
}
