internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// pprof's profile: one sample a call path, with its calls and its self time.
///
/// `profile.proto` (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed by gzip, as it has to be.
struct PprofExporter: Exporter {
    /// Bytes that a sample takes besides the numbers of its functions, at most.
    private static let sampleBytes: UInt64 = 32

    func refusal(_ source: ExportSource) -> String? {
        let sample = PprofExporter.sampleBytes
        return PathFileSize(
            source.callPaths(), minTotal: source.filter.minCost, remainder: sample, row: { _ in sample },
            nameBytes: { PprofExporter.bytes(ofNumber: UInt64($0) + 1) }
        ).refusal()
    }

    /// The size of a protobuf varint in bytes: one for each seven bits.
    private static func bytes(ofNumber number: UInt64) -> UInt64 {
        UInt64(max(1, (64 - number.leadingZeroBitCount + 6) / 7))
    }

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let tree = source.callPaths()
        let gzip = GzipWriter(writer)
        var profile = PprofProfile(gzip.writer, functions: tree.functions)
        profile.writeTypes()
        tree.forEachPath(minTotal: source.filter.minCost) { exported in
            let (index, sums) = (exported.index, exported.path.sums)
            profile.write(path: index, of: tree.paths, calls: sums.calls, time: sums.selfTime)
            for (kind, sum) in exported.remainders {
                profile.write(path: index, of: tree.paths, remainder: kind, calls: sum.calls, time: sum.time)
            }
        }
        let first = tree.roots.map { tree.paths[$0].sums.firstStart }.min() ?? 0
        let last = tree.roots.map { tree.paths[$0].sums.lastEnd }.max() ?? 0
        profile.finish(
            start: source.session.startRealtimeNanoseconds &+ first, duration: last > first ? last - first : 0)
        gzip.finish()
        return ExportSummary(written: tree.paths.count)
    }
}

private struct PprofProfile {
    private enum Field {
        static let (sampleType, sample, location, function) = (UInt64(1), UInt64(2), UInt64(4), UInt64(5))
        static let (string, timeNanos, durationNanos) = (UInt64(6), UInt64(9), UInt64(10))
        static let (periodType, period, defaultSampleType) = (UInt64(11), UInt64(12), UInt64(14))
    }

    private let writer: ByteWriter
    private let functions: FunctionTable
    /// Numbers of strings: a string's number is its place among the strings written, the first of which is empty.
    private var strings: [String: UInt64] = [:]
    /// Whether a location was written, by function and, behind the functions, by remainder. Locations and functions
    /// have the same numbers, from 1.
    private var isWritten: [Bool]

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
        isWritten = Array(repeating: false, count: functions.functions.count + PathRemainder.allCases.count)
        _ = string("")
    }

    mutating func writeTypes() {
        write(Field.sampleType, valueType("calls", "count"))
        write(Field.sampleType, valueType("time", "nanoseconds"))
        write(Field.periodType, valueType("time", "nanoseconds"))
        write(Field.period, 1)
        write(Field.defaultSampleType, string("time"))
    }

    mutating func write(
        path index: Int, of paths: CallPaths, remainder: PathRemainder? = nil, calls: UInt64, time: UInt64
    ) {
        var locations: [UInt64] = []
        if let remainder {
            let id = remainder.id(beside: functions)
            locations.append(UInt64(id) + 1)
            if !isWritten[id] { write(function: UInt64(id) + 1, name: remainder.name, file: "", line: 0) }
            isWritten[id] = true
        }
        // The sample's locations begin with the innermost call.
        var next = index
        while next >= 0 {
            let function = paths[next].function
            locations.append(UInt64(function) + 1)
            if !isWritten[Int(function)] {
                let known = functions[function]
                write(
                    function: UInt64(function) + 1, name: known.name, file: known.file ?? "",
                    line: UInt64(max(known.line, 0)))
                isWritten[Int(function)] = true
            }
            next = Int(paths[next].parent)
        }
        var sample = ProtobufMessage()
        sample.add(1, packed: locations)
        sample.add(2, packed: [calls, time])
        write(Field.sample, sample)
    }

    mutating func finish(start: UInt64, duration: UInt64) {
        write(Field.timeNanos, start)
        write(Field.durationNanos, duration)
    }

    private mutating func write(function id: UInt64, name: String, file: String, line: UInt64) {
        var function = ProtobufMessage()
        function.add(1, id)
        function.add(2, string(name))
        function.add(3, string(name))
        function.add(4, string(file))
        function.add(5, line)
        write(Field.function, function)
        var lineEntry = ProtobufMessage()
        lineEntry.add(1, id)
        lineEntry.add(2, line)
        var location = ProtobufMessage()
        location.add(1, id)
        location.add(4, lineEntry)
        write(Field.location, location)
    }

    private mutating func valueType(_ type: String, _ unit: String) -> ProtobufMessage {
        var message = ProtobufMessage()
        message.add(1, string(type))
        message.add(2, string(unit))
        return message
    }

    /// The number of `text` in the string table, to which it is added when it is new.
    private mutating func string(_ text: String) -> UInt64 {
        if let known = strings[text] { return known }
        let number = UInt64(strings.count)
        strings[text] = number
        var message = ProtobufMessage()
        message.add(Field.string, text)
        writer.write(message.bytes)
        return number
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
