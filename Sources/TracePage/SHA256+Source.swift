internal import TraceText

extension SHA256 {
    /// A sum as a content security policy names it: `sha256-` and base 64.
    static func source(of bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let sum = SHA256.sum(of: bytes) + [0]  // 33 bytes, of which the last is filling
        var text = ""
        for index in stride(from: 0, to: sum.count, by: 3) {
            let group = Int(sum[index]) << 16 | Int(sum[index + 1]) << 8 | Int(sum[index + 2])
            for shift in [18, 12, 6, 0] { text.append(letters[group >> shift & 63]) }
        }
        return "sha256-" + text.dropLast() + "="
    }
}
