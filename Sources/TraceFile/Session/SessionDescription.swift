internal import CTraceFormat
internal import TraceText

/// `session.json`: what was run, where and how. The recorder writes it before the program starts.
public struct SessionDescription {
    /// The program's name and its arguments, as given.
    public let command: [String]
    public let executable: String?
    public let directory: String?
    public let host: String?
    public let cpu: String?
    public let kernel: String?
    /// Version of the recorder.
    public let fathom: String?
    public let startRealtimeNanoseconds: UInt64?
    /// When the program was started, in ns since 1970, where it ran already; nil where the recorder started it.
    public package(set) var programStartNanoseconds: UInt64?
    /// Record options by name, as written; a bare value is a number, a truth value or null.
    public let options: [(name: String, value: String, isBare: Bool)]
    /// The version of the log's format, which follows from ``options``.
    let formatVersion: UInt32
    /// What the program took with the runtime and without it, when both were measured.
    public package(set) var baseline: Baseline?

    /// What the program took, with all processes that it waited for; nil while it runs, and where somebody else started it.
    public package(set) var usage: ProgramUsage?

    /// How it was found out when threads waited; nil when nobody asked.
    public package(set) var waitSources: WaitSources?

    /// Whether the kernel told of page faults; nil when nobody asked.
    public package(set) var faultSource: FaultSource?

    /// The functions that were watched, as globs and regular expressions.
    public let watched: [String]

    /// Why this was saved of a longer recording; nil for a whole one.
    public package(set) var reason: String?

    /// What is to be recorded on this machine now.
    ///
    /// - Parameter startRealtime: ns since 1970.
    package init(command: [String], executable: String, options: RecordOptions, startRealtime: UInt64) {
        let facts = HostFacts()
        self.command = command
        self.executable = executable
        directory = facts.directory
        host = facts.name
        cpu = facts.cpu
        kernel = facts.kernel
        fathom = FATHOM_VERSION
        startRealtimeNanoseconds = startRealtime
        self.options = options.members.map { ($0.name.rawValue, $0.value, true) }
        watched = options.functions.watched
        formatVersion = options.formatVersion
    }

    /// What was sampled on this machine.
    package init(of process: SampledProcess, startRealtime: UInt64) {
        let facts = HostFacts()
        command = process.arguments
        executable = process.path
        directory = facts.directory
        host = facts.name
        cpu = facts.cpu
        kernel = facts.kernel
        fathom = FATHOM_VERSION
        startRealtimeNanoseconds = startRealtime
        options = [
            (RecordOptions.Name.mode.rawValue, "sample", false),
            (RecordOptions.Name.samplePeriod.rawValue, "\(process.period)", true),
        ]
        watched = []
        formatVersion = RecordOptions().formatVersion
        programStartNanoseconds = process.start
    }

    /// Reads a file; nil when it is missing or no JSON object, which is reported.
    ///
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    init?(_ file: MappedFile?, path: String, damage: DamageLog) throws(TraceFileError) {
        let name = SessionFile.description.name
        let value: JSONValue?
        if let file {
            var parser = JSONParser(file.bytes)
            value = parser.parse()
        } else {
            value = nil
        }
        guard case .object(let members)? = value else {
            damage.report(
                Damage(file: name, offset: 0, lostBytes: UInt64(file?.size ?? 0), kind: .sessionDescription))
            return nil
        }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        func text(_ name: String) -> String? {
            if case .string(let text)? = member(name) { text } else { nil }
        }
        // Format 1 has no sum.
        let format = member("format").flatMap { UInt64($0.text) } ?? 1
        guard format <= FATHOM_FORMAT_VERSION else {
            throw .unsupportedVersion(
                path: path, found: UInt32(clamping: format), supported: FATHOM_FORMAT_VERSION)
        }
        let isSummed = format > 1 || text("sum") != nil
        if let file, isSummed, !Self.endsWithSum(file.bytes) {
            damage.report(Damage(file: name, offset: 0, lostBytes: 0, kind: .descriptionSum))
        }
        if case .array(let arguments)? = member("command") {
            command = arguments.map(\.text)
        } else {
            command = []
        }
        executable = text("executable")
        directory = text("directory")
        host = text("host")
        cpu = text("cpu")
        kernel = text("kernel")
        fathom = text("fathom")
        startRealtimeNanoseconds = member("start_realtime_ns").flatMap { UInt64($0.text) }
        programStartNanoseconds = member("program_start_ns").flatMap { UInt64($0.text) }
        if case .object(let members)? = member("options") {
            options = members.map { ($0.name, $0.value.text, $0.value.isBare) }
        } else {
            options = []
        }
        watched = member("options")?[RecordOptions.Name.watch.rawValue]?.elements.compactMap(\.string) ?? []
        formatVersion = UInt32(clamping: format)
        baseline = Baseline(member("baseline"))
        usage = ProgramUsage(member("usage"))
        waitSources = WaitSources(member("blocked"))
        faultSource = FaultSource(member("faults"))
        reason = text("saved_because")
    }
}

extension SessionDescription {
    /// Whether calls of functions without hooks are recorded by slots.
    public var hasLibraryCalls: Bool {
        option(.libcalls) != nil || option(.syscalls) == RecordOptions.SystemCallSource.functions.rawValue
    }

    /// The value of an option, as in ``options``; nil when the session has none of that name.
    public func option(_ name: RecordOptions.Name) -> String? { options.first { $0.name == name.rawValue }?.value }

    /// Whether an option of a limit or of functions was given, so that calls are left out or handled apart.
    public func limits(by name: RecordOptions.Name) -> Bool { ![nil, "null", "0"].contains(option(name)) }
}

// MARK: Text

extension SessionDescription {
    /// The beginning of the text, whatever it tells.
    static let start = "{\n  \"format\": "
    /// The text before the sum's 16 digits, and the text after them.
    private static let beforeSum = ",\n  \"sum\": \"", afterSum = "\"\n}\n"

    /// The text. Its last member is the sum of all that stands before it.
    package var json: String {
        let text = unsummed
        let sum = String(Array(text.utf8).withUnsafeBytes { fathom_hash($0.baseAddress, $0.count) }, radix: 16)
        return text + Self.beforeSum + String(repeating: "0", count: 16 - sum.count) + sum + Self.afterSum
    }

    /// Whether the last member is the sum of all before it.
    private static func endsWithSum(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (start, end) = (Array(beforeSum.utf8), Array(afterSum.utf8))
        let summed = bytes.count - start.count - 16 - end.count
        guard summed > 0, bytes[summed...].starts(with: start), bytes.suffix(end.count).elementsEqual(end) else {
            return false
        }
        let digits = String(decoding: bytes[(summed + start.count)...].prefix(16), as: UTF8.self)
        return UInt64(digits, radix: 16) == fathom_hash(bytes.baseAddress, summed)
    }

    private var unsummed: String {
        let members = options.map { "    \"\($0.name)\": \($0.isBare ? $0.value : Self.quoted($0.value))" }.joined(
            separator: ",\n")
        return Self.start + """
            \(formatVersion),
              "fathom": \(Self.quoted(fathom)),
              "command": [\(command.map(Self.quoted).joined(separator: ", "))],
              "executable": \(Self.quoted(executable)),
              "directory": \(Self.quoted(directory)),
              "host": \(Self.quoted(host)),
              "kernel": \(Self.quoted(kernel)),
              "cpu": \(Self.quoted(cpu)),
              "start_realtime_ns": \(startRealtimeNanoseconds ?? 0),\
            \(programStartNanoseconds.map { "\n  \"program_start_ns\": \($0)," } ?? "")
              "options": {
            \(members)
              }\(baseline.map { ",\n  \"baseline\": " + $0.json } ?? "")\
            \(usage.map { ",\n  \"usage\": " + $0.json } ?? "")\
            \(waitSources.map { ",\n  \"blocked\": " + $0.json } ?? "")\
            \(faultSource.map { ",\n  \"faults\": " + $0.json } ?? "")\
            \(reason.map { ",\n  \"saved_because\": " + Self.quoted($0) } ?? "")
            """
    }

    /// A JSON string; an empty one of nil.
    static func quoted(_ text: String?) -> String {
        String(decoding: ByteWriter.bytes { $0.write(json: text ?? "") }, as: UTF8.self)
    }
}
