/// What the recorder wrote about the run before it began: the values of `session.json`.
public struct SessionDescription {
    public let command: [String]
    public let directory: String?
    public let host: String?
    public let cpu: String?
    public let kernel: String?
    /// Version of the recorder.
    public let fathom: String?
    public let startRealtimeNanoseconds: UInt64?
    /// Record options by name, as written; a bare value is a number, a truth value or null.
    public let options: [(name: String, value: String, isBare: Bool)]
    /// What the program took with the runtime and without it, when both were measured.
    public let baseline: Baseline?

    /// Reads `path`; nil when it is missing or no JSON object, which is reported.
    init?(path: String, damage: DamageLog) {
        let value: JSONValue?
        let file = try? MappedFile(path: path)
        if let file {
            var parser = JSONParser(file.bytes)
            value = parser.parse()
        } else {
            value = nil
        }
        guard case .object(let members)? = value else {
            damage.report(
                Damage(
                    file: "session.json", offset: 0, lostBytes: UInt64(file?.size ?? 0), kind: .sessionDescription))
            return nil
        }
        func member(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }
        func text(_ name: String) -> String? {
            if case .string(let text)? = member(name) { text } else { nil }
        }
        // Format 1 had no sum.
        let format = member("format").flatMap { UInt64($0.text) } ?? 1
        let isSummed = format > 1 || text("sum") != nil
        if let file, isSummed, !file.bytes.endsWithSum {
            damage.report(Damage(file: "session.json", offset: 0, lostBytes: 0, kind: .descriptionSum))
        }
        if case .array(let arguments)? = member("command") {
            command = arguments.map(\.text)
        } else {
            command = []
        }
        directory = text("directory")
        host = text("host")
        cpu = text("cpu")
        kernel = text("kernel")
        fathom = text("fathom")
        startRealtimeNanoseconds = member("start_realtime_ns").flatMap { UInt64($0.text) }
        if case .object(let members)? = member("options") {
            options = members.map { ($0.name, $0.value.text, $0.value.isBare) }
        } else {
            options = []
        }
        baseline = Baseline(member("baseline"))
    }
}
