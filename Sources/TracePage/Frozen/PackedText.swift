internal import CZlib

/// Bytes as a page keeps them: compressed by RFC 1950, in base 64 (RFC 4648). `frozen.js` unpacks them.
public enum PackedText {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// - Complexity: O(bytes), some 30 ns each.
    public static func of(_ bytes: [UInt8]) -> [UInt8] { base64(compressed(bytes)) }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(uLong(bytes.count))
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { room, used in
            // With as much room as the library asks for, only want of memory makes this fail.
            let status = compress2(room.baseAddress, &count, bytes, uLong(bytes.count), Z_DEFAULT_COMPRESSION)
            precondition(status == Z_OK, "out of memory")
            used = Int(count)
        }
    }

    static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(bytes.count - start, 3)
            var group: UInt32 = 0
            for place in 0..<3 { group = group << 8 | (place < count ? UInt32(bytes[start + place]) : 0) }
            for place in 0..<4 {
                text.append(place <= count ? letters[Int(group >> (18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return text
    }
}
