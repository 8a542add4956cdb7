internal import TraceFile

/// What a list of hangs needs to know of one, as it was written as JSON.
public struct HangSummary: Equatable {
    public var kind: String
    public var program: String
    public var duration: UInt64
    /// Names of the open calls, outermost first.
    public var path: [String]

    /// Nil when the text is no report of a hang.
    public init?(json: String) {
        var text = json
        guard
            let value = text.withUTF8({ bytes in
                var parser = JSONParser(UnsafeRawBufferPointer(bytes))
                return parser.parse()
            }), let kind = value["kind"]?.string, let duration = value["duration_ns"]?.unsigned
        else { return nil }
        self.kind = kind
        self.duration = duration
        program = value["program"]?.string ?? "?"
        path = (value["path"]?.elements ?? []).compactMap { $0["name"]?.string }
    }
}
