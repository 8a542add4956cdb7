internal import TraceText

extension SHA256 {
    /// A sum as a content security policy names it: `sha256-` and base 64.
    static func source(of bytes: [UInt8]) -> String {
        "sha256-" + String(decoding: PackedText.base64(SHA256.sum(of: bytes)), as: UTF8.self)
    }
}
