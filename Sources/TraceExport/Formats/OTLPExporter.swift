internal import TraceAnalysis
internal import TraceFile
internal import TraceHistory
internal import TraceText

/// Writes OpenTelemetry's profiles: of each process one of self times, and one of calls, with a sample for each call path of each
/// thread.
///
/// The file is a `ProfilesData` of `opentelemetry/proto/profiles/v1development/profiles.proto`
/// (https://github.com/open-telemetry/opentelemetry-proto), as version 1.10 has it. Samples have the attributes `thread.name`, and
/// `thread.id` where they are of one thread. Those below a scope that is named as ``SpanContext`` says have a link to its span.
struct OTLPExporter: Exporter {
    /// Bytes that the two samples of a path take besides the numbers of its functions, at most.
    private static let sampleBytes: UInt64 = 80

    func refusal(_ source: ExportSource) -> String? {
        let sample = OTLPExporter.sampleBytes
        var size = PathFileSize()
        source.forEachGroup { _, tree in
            size.add(
                tree, minTotal: source.filter.minCost, remainder: sample, row: { _ in sample }, nameBytes: { _ in 3 })
        }
        return size.refusal()
    }

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tables = OTLPTables(source)
        var processes: [OTLPProcess] = []
        var written = 0
        source.forEachGroup { group, tree in
            if processes.last?.process.index != group.process.index { processes.append(OTLPProcess(group.process)) }
            let attributes = tables.attributes(of: group)
            written += processes[processes.count - 1].add(
                tree, attributes, minTotal: source.filter.minCost, &tables)
        }
        for process in processes { write(1, process.message(of: source.session, &tables), writer) }
        write(2, tables.message, writer)
        return ExportSummary(written: written)
    }

    private func write(_ field: UInt64, _ value: ProtobufMessage, _ writer: ByteWriter) {
        var message = ProtobufMessage()
        message.add(field, value)
        writer.write(message.bytes)
    }
}

/// The samples of a process.
private struct OTLPProcess {
    let process: TracedProcess
    private var times = ProtobufMessage()
    private var calls = ProtobufMessage()
    private var first = UInt64.max
    private var last: UInt64 = 0

    init(_ process: TracedProcess) { self.process = process }

    /// - Returns: how many paths were added.
    mutating func add(
        _ tree: CallPathTree, _ attributes: [UInt64], minTotal: UInt64, _ tables: inout OTLPTables
    ) -> Int {
        var added = 0
        tree.forEachPath(minTotal: minTotal) { exported in
            added += 1
            let stack = tables.stack(of: exported.index, in: tree)
            let sums = exported.path.sums
            let link = tables.link
            add(stack, attributes, link, calls: sums.calls, time: sums.selfTime)
            for (kind, sum) in exported.remainders {
                add(tables.stack(of: kind), attributes, link, calls: sum.calls, time: sum.time)
            }
        }
        for root in tree.roots {
            first = min(first, tree.paths[root].sums.firstStart)
            last = max(last, tree.paths[root].sums.lastEnd)
        }
        return added
    }

    private mutating func add(_ stack: UInt64, _ attributes: [UInt64], _ link: UInt64, calls: UInt64, time: UInt64) {
        func sample(_ value: UInt64) -> ProtobufMessage {
            var sample = ProtobufMessage()
            sample.add(1, stack)
            sample.add(2, packed: attributes)
            if link > 0 { sample.add(3, link) }
            sample.add(4, packed: [value])
            return sample
        }
        if time > 0 { times.add(2, sample(time)) }
        if calls > 0 { self.calls.add(2, sample(calls)) }
    }

    func message(of session: Session, _ tables: inout OTLPTables) -> ProtobufMessage {
        var resource = ProtobufMessage()
        resource.add(1, OTLPProcess.attribute("service.name", process.programName))
        resource.add(1, OTLPProcess.attribute("process.executable.name", process.programName))
        resource.add(1, OTLPProcess.attribute("process.executable.path", process.path))
        resource.add(1, OTLPProcess.attribute("process.pid", process.pid))
        if let host = session.description?.host { resource.add(1, OTLPProcess.attribute("host.name", host)) }
        var scope = ProtobufMessage()
        scope.add(1, "fathom")
        if let version = session.description?.fathom { scope.add(2, version) }
        var scoped = ProtobufMessage()
        scoped.add(1, scope)
        // Tools show the first one.
        for (samples, type, unit) in [(times, "time", "nanoseconds"), (calls, tables.counted, "count")]
        where !samples.bytes.isEmpty {
            scoped.add(2, profile(samples, type, unit, session, &tables))
        }
        var message = ProtobufMessage()
        message.add(1, resource)
        message.add(2, scoped)
        return message
    }

    private func profile(
        _ samples: ProtobufMessage, _ type: String, _ unit: String, _ session: Session, _ tables: inout OTLPTables
    ) -> ProtobufMessage {
        var valueType = ProtobufMessage()
        valueType.add(1, tables.string(type))
        valueType.add(2, tables.string(unit))
        var profile = ProtobufMessage()
        profile.add(1, valueType)
        profile.append(samples)
        let start = first == .max ? 0 : first
        profile.add(3, fixed: session.startRealtimeNanoseconds &+ start)
        profile.add(4, last > start ? last - start : 0)
        // Every call counts.
        profile.add(5, valueType)
        profile.add(6, 1)
        let key = FleetRun.key(of: session)
        let id = [SipHash.hash("\(key) \(process.index) \(type)".utf8), key]
        profile.add(7, bytes: id.flatMap { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } })
        return profile
    }

    private static func attribute(_ key: String, _ text: String) -> ProtobufMessage {
        var value = ProtobufMessage()
        value.add(1, text)
        return attribute(key, value)
    }

    private static func attribute(_ key: String, _ number: UInt32) -> ProtobufMessage {
        var value = ProtobufMessage()
        value.add(3, UInt64(number))
        return attribute(key, value)
    }

    private static func attribute(_ key: String, _ value: ProtobufMessage) -> ProtobufMessage {
        var attribute = ProtobufMessage()
        attribute.add(1, key)
        attribute.add(2, value)
        return attribute
    }
}
