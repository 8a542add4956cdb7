internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Writes pprof's profile: one sample for each call path of each thread, with its calls and its self time.
///
/// The format is `profile.proto` (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed by gzip, which
/// the format requires. Samples have the labels `process` and `thread`, and `tid` where the sample is of one thread.
///
/// Functions have no system name. If the system name were equal to the name, pprof would take the name to be mangled and
/// strip its template arguments, so that `Box<int>::get` and `Box<double>::get` would become one function.
struct PprofExporter: Exporter {
    /// Bytes that a sample takes besides the numbers of its functions, at most.
    private static let sampleBytes: UInt64 = 56

    func refusal(_ source: ExportSource) -> String? {
        let sample = PprofExporter.sampleBytes
        var size = PathFileSize()
        source.forEachGroup { _, tree in
            size.add(
                tree, minTotal: source.filter.minCost, remainder: sample, row: { _ in sample },
                nameBytes: { UInt64((UInt64($0) + 1).leb128Size) })
        }
        return size.refusal(isCompressed: true)
    }

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let gzip = GzipWriter(writer)
        var profile = PprofProfile(gzip.writer, source)
        var (written, first, last) = (0, UInt64.max, UInt64(0))
        profile.writeTypes()
        source.forEachGroup { group, tree in
            profile.begin(group)
            tree.forEachPath(minTotal: source.filter.minCost) { exported in
                written += 1
                let (index, sums) = (exported.index, exported.path.sums)
                profile.write(path: index, of: tree.paths, calls: sums.calls, time: sums.selfTime)
                for (kind, sum) in exported.remainders {
                    profile.write(path: index, of: tree.paths, remainder: kind, calls: sum.calls, time: sum.time)
                }
            }
            for root in tree.roots {
                first = min(first, tree.paths[root].sums.firstStart)
                last = max(last, tree.paths[root].sums.lastEnd)
            }
        }
        profile.finish(
            start: source.session.startRealtimeNanoseconds &+ (first == .max ? 0 : first),
            duration: last > first ? last - first : 0)
        gzip.finish()
        return ExportSummary(written: written)
    }
}

private struct PprofProfile {
    private enum Field {
        static let (sampleType, sample, mapping) = (UInt64(1), UInt64(2), UInt64(3))
        static let (location, function, string) = (UInt64(4), UInt64(5), UInt64(6))
        static let (timeNanos, durationNanos) = (UInt64(9), UInt64(10))
        static let (periodType, period, defaultSampleType) = (UInt64(11), UInt64(12), UInt64(14))
    }

    private let writer: ByteWriter
    private let functions: FunctionTable
    /// The strings written, the first of which is empty.
    private var strings = NumberedTexts()
    /// Whether each location was written. The index is the location's number less 1: remainders come first, then functions,
    /// because new functions may still be found. A location and its function have the same number.
    private var isWritten: [Bool] = []
    /// Where each module lay in the first process that had it.
    private let mapped: [ModuleIdentity: Module]
    /// The numbers of the mappings that were written, by the index of their module. The program's is the first.
    private var mappings: [Int32: UInt64] = [:]
    private var labels: [ProtobufMessage] = []

    init(_ writer: ByteWriter, _ source: ExportSource) {
        self.writer = writer
        functions = source.functions
        mapped = source.mappedModules
        _ = string("")
        // Readers take the first mapping for the program.
        let program = source.selection.first?.process.modules.first { $0.path == source.selection.first?.process.path }
        if let program {
            let identity = ModuleIdentity(path: program.path, buildID: program.buildID)
            _ = mapping(of: functions.intern(identity), identity)
        }
    }

    mutating func writeTypes() {
        write(Field.sampleType, valueType(functions.counted, "count"))
        write(Field.sampleType, valueType("time", "nanoseconds"))
        write(Field.periodType, valueType("time", "nanoseconds"))
        write(Field.period, 1)
        write(Field.defaultSampleType, string("time"))
    }

    /// Begins the samples of `group`.
    mutating func begin(_ group: ThreadGroup) {
        labels = [
            label("process", string: "\(group.process.programName) \(group.process.pid)"),
            label("thread", string: group.name),
        ]
        guard let tid = group.tid else { return }
        var number = ProtobufMessage()
        number.add(1, string("tid"))
        number.add(3, UInt64(tid))
        labels.append(number)
    }

    private mutating func label(_ key: String, string value: String) -> ProtobufMessage {
        var message = ProtobufMessage()
        message.add(1, string(key))
        message.add(2, string(value))
        return message
    }

    mutating func write(
        path index: Int, of paths: CallPaths, remainder: PathRemainder? = nil, calls: UInt64, time: UInt64
    ) {
        var locations: [UInt64] = []
        if let remainder {
            let id = remainder.rawValue
            locations.append(UInt64(id) + 1)
            if isUnwritten(id) {
                write(
                    function: UInt64(id) + 1,
                    ResolvedFunction(name: remainder.name, module: nil, file: nil, line: 0), at: nil)
            }
        }
        // The sample's locations begin with the innermost call.
        var next = index
        while next >= 0 {
            let function = paths[next].function
            let id = Int(function) + PathRemainder.allCases.count
            locations.append(UInt64(id) + 1)
            if isUnwritten(id) {
                write(function: UInt64(id) + 1, functions[function], at: functions.functions[Int(function)])
            }
            next = Int(paths[next].parent)
        }
        var sample = ProtobufMessage()
        sample.add(1, packed: locations)
        sample.add(2, packed: [calls, time])
        for label in labels { sample.add(3, label) }
        write(Field.sample, sample)
    }

    /// Returns whether location `id` is still to be written, and notes that it is written.
    private mutating func isUnwritten(_ id: Int) -> Bool {
        if id >= isWritten.count { isWritten += Array(repeating: false, count: id + 1 - isWritten.count) }
        defer { isWritten[id] = true }
        return !isWritten[id]
    }

    mutating func finish(start: UInt64, duration: UInt64) {
        write(Field.timeNanos, start)
        write(Field.durationNanos, duration)
    }

    private mutating func write(function id: UInt64, _ known: ResolvedFunction, at place: FunctionTable.Function?) {
        let line = UInt64(max(known.line, 0))
        var function = ProtobufMessage()
        function.add(1, id)
        function.add(2, string(known.name))
        function.add(4, string(known.file ?? ""))
        function.add(5, line)
        write(Field.function, function)
        var lineEntry = ProtobufMessage()
        lineEntry.add(1, id)
        lineEntry.add(2, line)
        var location = ProtobufMessage()
        location.add(1, id)
        if let place, place.module >= 0, known.module != nil {
            let identity = functions.modules[Int(place.module)]
            if let mapping = mapping(of: place.module, identity) {
                location.add(2, mapping)
                location.add(3, place.address &+ (mapped[identity]?.bias ?? 0))
            }
        }
        location.add(4, lineEntry)
        write(Field.location, location)
    }

    /// Writes the module's mapping when it is new, and returns its number; nil when no process had the module mapped.
    private mutating func mapping(of module: Int32, _ identity: ModuleIdentity) -> UInt64? {
        if let known = mappings[module] { return known }
        guard let place = mapped[identity] else { return nil }
        let number = UInt64(mappings.count) + 1
        mappings[module] = number
        var message = ProtobufMessage()
        message.add(1, number)
        message.add(2, place.low)
        message.add(3, place.high)
        message.add(5, string(place.path))
        message.add(6, string(place.buildID.hexadecimal))
        // It has functions, files and lines: readers need not look for them.
        for field: UInt64 in 7...9 { message.add(field, 1) }
        write(Field.mapping, message)
        return number
    }

    private mutating func valueType(_ type: String, _ unit: String) -> ProtobufMessage {
        var message = ProtobufMessage()
        message.add(1, string(type))
        message.add(2, string(unit))
        return message
    }

    /// Adds `text` to the string table when it is new, and returns its number there.
    private mutating func string(_ text: String) -> UInt64 {
        let known = strings.texts.count
        let number = strings.number(of: text)
        if number == known {
            var message = ProtobufMessage()
            message.add(Field.string, text)
            writer.write(message.bytes)
        }
        return UInt64(number)
    }

    private func write(_ field: UInt64, _ value: UInt64) {
        var message = ProtobufMessage()
        message.add(field, value)
        writer.write(message.bytes)
    }

    private func write(_ field: UInt64, _ value: ProtobufMessage) {
        var message = ProtobufMessage()
        message.add(field, value)
        writer.write(message.bytes)
    }
}
