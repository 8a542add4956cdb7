/// A reader of small JSON documents (RFC 8259), enough for a session's description without Foundation.
///
/// Never traps: what is no JSON gives nil. Nesting is limited to 64 levels.
package struct JSONParser {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package mutating func parse() -> JSONValue? {
        guard let value = value(depth: 0) else { return nil }
        skipSpace()
        return position == bytes.count ? value : nil
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func value(depth: Int) -> JSONValue? {
        skipSpace()
        guard depth < 64, position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        default: return number().map { .number($0) }
        }
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    private mutating func number() -> String? {
        let start = position
        func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
        func take(_ characters: String) -> Bool {
            guard position < bytes.count, characters.utf8.contains(bytes[position]) else { return false }
            position += 1
            return true
        }
        func takeDigits() -> Bool {
            let digits = bytes[position...].prefix(while: isDigit)
            position += digits.count
            return !digits.isEmpty
        }
        _ = take("-")
        guard take("0") || takeDigits() else { return nil }
        if take("."), !takeDigits() { return nil }
        if take("eE") {
            _ = take("+-")
            guard takeDigits() else { return nil }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func object(depth: Int) -> JSONValue? {
        position += 1
        var members: [(name: String, value: JSONValue)] = []
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\""), let name = string(), take(":"),
                let value = value(depth: depth + 1)
            else { return nil }
            members.append((name, value))
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> JSONValue? {
        position += 1
        var values: [JSONValue] = []
        if take("]") { return .array(values) }
        repeat {
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
        } while take(",")
        return take("]") ? .array(values) : nil
    }

    private mutating func string() -> String? {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { return nil }
            let escape = bytes[position]
            position += 1
            switch escape {
            case UInt8(ascii: "n"): text.append(0x0a)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "r"): text.append(0x0d)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0c)
            case UInt8(ascii: "u"):
                guard let scalar = scalar() else { return nil }
                text.append(contentsOf: String(Character(scalar)).utf8)
            default: text.append(escape)
            }
        }
        return nil
    }

    /// The scalar of a `\u` escape, a surrogate pair included; lone surrogates become U+FFFD.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let unit = hexadecimal() else { return nil }
        if 0xd800..<0xdc00 ~= unit, bytes[position...].starts(with: [0x5c, 0x75]) {
            position += 2
            guard let low = hexadecimal() else { return nil }
            if 0xdc00..<0xe000 ~= low { return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)) }
        }
        return Unicode.Scalar(unit) ?? "\u{fffd}"
    }

    private mutating func hexadecimal() -> UInt32? {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4 else { return nil }
        position += 4
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
