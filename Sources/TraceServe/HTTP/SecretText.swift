/// Text that nobody can guess.
enum SecretText {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// 128 random bits as 22 letters of base64url (RFC 4648).
    static func token() -> String {
        var generator = SystemRandomNumberGenerator()  // getrandom(2)
        var bits = [generator.next() as UInt64, generator.next()].flatMap { word in (0..<64).map { word >> $0 & 1 } }
        bits += [0, 0, 0, 0]
        let numbers = stride(from: 0, to: bits.count, by: 6).map { bits[$0..<$0 + 6].reduce(0) { $0 << 1 | $1 } }
        return String(decoding: numbers.map { letters[Int($0)] }, as: UTF8.self)
    }
}
