internal import TraceText

/// What a request is answered with.
struct Reply: Sendable {
    var status: UInt32
    var type = Reply.json
    var bytes: [UInt8] = []
    /// The policy of what is answered, if that is a page.
    var policy = Reply.nothingAllowed
    var further: [(name: String, value: String)] = []

    static let json = "application/json"
    private static let nothingAllowed =
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

    /// A status, and nothing else.
    static func empty(_ status: UInt32) -> Reply { Reply(status: status, type: "text/plain") }

    static func json(_ bytes: [UInt8]) -> Reply { Reply(status: 200, bytes: bytes) }

    /// Says how far the answer is, 0...1: it is to be asked for again.
    static func unfinished(_ part: Double) -> Reply {
        Reply(status: 202, bytes: jsonBytes { json in json.object { json.field("progress", part) } })
    }

    /// Says in one sentence what is wrong.
    static func error(_ status: UInt32, _ reason: String) -> Reply {
        Reply(status: status, bytes: jsonBytes { json in json.object { json.field("error", reason) } })
    }

    /// All headers that it goes with: what is answered is nobody's but the page's, is kept nowhere, and is what it says it is.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", type), ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ] + further
    }
}

/// The bytes of a JSON document.
func jsonBytes(_ write: (JSONWriter) -> Void) -> [UInt8] { bytes { write(JSONWriter($0)) } }

/// What is written.
func bytes(_ write: (ByteWriter) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    let writer = ByteWriter {
        bytes.append(contentsOf: $0); return true
    }
    write(writer)
    writer.flush()
    return bytes
}
