internal import CTraceFormat
internal import Glibc

/// `session.json`: what was run, where and how, written before the program starts.
struct SessionDescription {
    var options: RecordingOptions
    var host: HostFacts
    var startRealtime: UInt64
    var baseline: BaselineSummary?

    /// What the text begins with, whatever it tells.
    static let start = "{\n  \"format\": "

    /// The text. Its last member is the sum of all that stands before it.
    var json: String {
        let text = unsummed
        let sum = String(Array(text.utf8).withUnsafeBytes { fathom_hash($0.baseAddress, $0.count) }, radix: 16)
        return text + ",\n  \"sum\": \"" + String(repeating: "0", count: 16 - sum.count) + sum + "\"\n}\n"
    }

    private var unsummed: String {
        Self.start + """
            \(FATHOM_FORMAT_VERSION),
              "fathom": "\(FATHOM_VERSION)",
              "command": [\(options.arguments.map(Self.quoted).joined(separator: ", "))],
              "executable": \(Self.quoted(options.executable)),
              "directory": \(Self.quoted(host.directory)),
              "host": \(Self.quoted(host.name)),
              "kernel": \(Self.quoted(host.kernel)),
              "cpu": \(Self.quoted(host.cpu)),
              "start_realtime_ns": \(startRealtime),
              "options": {
                "max_depth": \(options.maxDepth.map { "\($0)" } ?? "null"),
                "min_cost_ns": \(options.minCost),
                "max_size_bytes": \(options.maxSize.map { "\($0)" } ?? "null"),
                "buffer_size_bytes": \(options.bufferSize),
                "paused": \(options.startsPaused)
              }\(baseline.map(Self.member) ?? "")
            """
    }

    private static func member(_ baseline: BaselineSummary) -> String {
        """
        ,
          "baseline": {
            "runs": \(baseline.runs),
            "plain_user_ns": \(baseline.plain.userNanoseconds),
            "plain_system_ns": \(baseline.plain.systemNanoseconds),
            "traced_user_ns": \(baseline.traced.userNanoseconds),
            "traced_system_ns": \(baseline.traced.systemNanoseconds)
          }
        """
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
