/// Rust's legacy mangling: C++'s nested names with a hash as the last of them, and punctuation spelled out.
///
/// Source: `legacy.rs` of the rustc-demangle crate.
enum RustLegacyName {
    /// Demangles `_ZN4core3fmt5write17h0123456789abcdefE` to `core::fmt::write`: the hash is left out, and so is what
    /// follows the name (`.llvm.123`). The result is nil when `name` is no such name.
    static func demangle(_ name: Substring) -> String? {
        guard name.hasPrefix("_ZN") else { return nil }
        var rest = name.utf8.dropFirst(3)
        var components: [Substring] = []
        while let first = rest.first, first != UInt8(ascii: "E") {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            guard let length = Int(Substring(digits)), length > 0 else { return nil }
            rest = rest.dropFirst(digits.count)
            guard rest.count > length else { return nil }
            components.append(Substring(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard rest.first == UInt8(ascii: "E"), components.count > 1, isHash(components.removeLast()) else { return nil }
        return components.map(unescape).joined(separator: "::")
    }

    private static func isHash(_ component: Substring) -> Bool {
        component.utf8.count == 17 && component.first == "h" && component.dropFirst().allSatisfy(\.isHexDigit)
    }

    private static let escapes: [Substring: Character] = [
        "SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ",",
    ]

    private static func unescape(_ component: Substring) -> String {
        var rest = component.hasPrefix("_$") ? component.dropFirst() : component
        var result = ""
        while let character = rest.first {
            if rest.hasPrefix("..") {
                result += "::"
                rest = rest.dropFirst(2)
            } else if character == "$", let end = rest.dropFirst().firstIndex(of: "$"),
                let escaped = self.character(rest[..<end].dropFirst())
            {
                result.append(escaped)
                rest = rest[end...].dropFirst()
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func character(_ escape: Substring) -> Character? {
        if let known = escapes[escape] { return known }
        guard escape.first == "u" else { return nil }
        return UInt32(escape.dropFirst(), radix: 16).flatMap(Unicode.Scalar.init).map(Character.init)
    }
}
