import Glibc

// The plugin protocol of swift-syntax (SwiftCompilerPluginMessageHandling): a length of 8 bytes, then JSON.

func readBytes(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
        var next: UInt8 = 0
        guard read(STDIN_FILENO, &next, 1) == 1 else { return nil }
        bytes.append(next)
    }
    return bytes
}

func answer(_ message: String) -> String {
    if message.contains("\"getCapability\"") {
        return #"{"getCapabilityResult":{"capability":{"protocolVersion":7}}}"#
    }
    return #"{"expandMacroResult":{"expandedSource":"expanded(42)","diagnostics":[]}}"#
}

while let header = readBytes(8) {
    let count = header.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard let body = readBytes(count) else { break }
    let reply = Array(answer(String(decoding: body, as: UTF8.self)).utf8)
    let length = (0..<8).map { UInt8(truncatingIfNeeded: reply.count >> (8 * $0)) }
    let bytes = length + reply
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { break }
}
