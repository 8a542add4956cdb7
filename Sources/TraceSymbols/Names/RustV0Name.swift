/// Rust's v0 mangling (RFC 2603): `_RNvCs4fqI2P2rA04_4main3run` is `main::run`.
///
/// Crate hashes and instantiating crates are left out. The grammar's productions are the methods.
struct RustV0Name {
    private let text: [UInt8]
    private var position = 0
    private var output = ""
    /// The number of bound lifetimes around the current production.
    private var lifetimes: UInt64 = 0
    private var depth = 0

    private struct Malformed: Error {}

    /// References may refer to references, so the output is limited, and so is nesting.
    private static let outputLimit = 10_000
    private static let depthLimit = 200

    /// Demangles `name`; nil when it is no such name. What follows the name (`.llvm.123`) is left out.
    static func demangle(_ name: Substring) -> String? {
        guard name.hasPrefix("_R") else { return nil }
        var parser = RustV0Name(text: Array(name.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: ".") }))
        do throws(Malformed) {
            try parser.path(inValue: true)
            return parser.output
        } catch {
            return nil
        }
    }

    private init(text: [UInt8]) { self.text = text }

    // MARK: Productions

    private mutating func path(inValue: Bool) throws(Malformed) {
        try enter()
        defer { depth -= 1 }
        switch try next() {
        case "C":
            _ = try disambiguator()
            try print(identifier())
        case "N":
            let space = try next()
            try path(inValue: inValue)
            let number = try disambiguator()
            let name = try identifier()
            if space.isUppercase {
                let kind = space == "C" ? "closure" : space == "S" ? "shim" : String(space)
                try print("::{\(kind)\(name.isEmpty ? "" : ":\(name)")#\(number)}")
            } else if !name.isEmpty {
                try print("::\(name)")
            }
        case "M":
            try skipImplementationPath()
            try print("<")
            try type()
            try print(">")
        case "X":
            try skipImplementationPath()
            try qualified()
        case "Y": try qualified()
        case "I":
            try path(inValue: inValue)
            try print(inValue ? "::<" : "<")
            try list(separator: ", ") { parser throws(Malformed) in try parser.genericArgument() }
            try print(">")
        case "B": try reference { parser throws(Malformed) in try parser.path(inValue: inValue) }
        default: throw Malformed()
        }
    }

    private mutating func qualified() throws(Malformed) {
        try print("<")
        try type()
        try print(" as ")
        try path(inValue: false)
        try print(">")
    }

    private mutating func skipImplementationPath() throws(Malformed) {
        _ = try disambiguator()
        let printed = output
        try path(inValue: false)
        output = printed
    }

    private mutating func genericArgument() throws(Malformed) {
        if accept("L") {
            try printLifetime(base62())
        } else if accept("K") {
            try constant()
        } else {
            try type()
        }
    }

    private mutating func type() throws(Malformed) {
        try enter()
        defer { depth -= 1 }
        let tag = try next()
        if let basic = Self.basicTypes[tag] { return try print(basic) }
        switch tag {
        case "A":
            try print("[")
            try type()
            try print("; ")
            try constant()
            try print("]")
        case "S":
            try print("[")
            try type()
            try print("]")
        case "T":
            try print("(")
            let count = try list(separator: ", ") { parser throws(Malformed) in try parser.type() }
            try print(count == 1 ? ",)" : ")")
        case "R", "Q":
            try print("&")
            if accept("L") {
                let index = try base62()
                if index > 0 {
                    try printLifetime(index)
                    try print(" ")
                }
            }
            if tag == "Q" { try print("mut ") }
            try type()
        case "P", "O":
            try print(tag == "P" ? "*const " : "*mut ")
            try type()
        case "F": try binder { parser throws(Malformed) in try parser.functionSignature() }
        case "D":
            try print("dyn ")
            try binder { parser throws(Malformed) in
                try parser.list(separator: " + ") { parser throws(Malformed) in try parser.dynamicTrait() }
            }
            guard accept("L") else { throw Malformed() }
            let index = try base62()
            if index > 0 {
                try print(" + ")
                try printLifetime(index)
            }
        case "B": try reference { parser throws(Malformed) in try parser.type() }
        default:
            position -= 1
            try path(inValue: false)
        }
    }

    private mutating func functionSignature() throws(Malformed) {
        if accept("U") { try print("unsafe ") }
        if accept("K") {
            let abi = accept("C") ? "C" : try identifier().replacing("_", with: "-")
            try print("extern \"\(abi)\" ")
        }
        try print("fn(")
        try list(separator: ", ") { parser throws(Malformed) in try parser.type() }
        try print(")")
        if accept("u") { return }
        try print(" -> ")
        try type()
    }

    private mutating func dynamicTrait() throws(Malformed) {
        try path(inValue: false)
        while accept("p") {
            try print(output.hasSuffix(">") ? ", " : "<")
            try print("\(identifier()) = ")
            try type()
            try print(">")
        }
    }

    private mutating func constant() throws(Malformed) {
        if accept("B") { return try reference { parser throws(Malformed) in try parser.constant() } }
        let tag = try next()
        if tag == "p" { return try print("_") }
        let sign = accept("n") ? "-" : ""
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "_") { position += 1 }
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        guard accept("_"), let value = UInt64(digits.isEmpty ? "0" : digits, radix: 16) else { throw Malformed() }
        switch tag {
        case "b": try print(value == 0 ? "false" : "true")
        case "c": try print("'\(UInt32(exactly: value).flatMap(Unicode.Scalar.init).map(String.init) ?? "?")'")
        default: try print("\(sign)\(value)")
        }
    }

    // MARK: Parts

    /// Parses any number of productions, up to `E`.
    @discardableResult
    private mutating func list(
        separator: String, _ element: (inout RustV0Name) throws(Malformed) -> Void
    ) throws(Malformed) -> Int {
        var count = 0
        while !accept("E") {
            if count > 0 { try print(separator) }
            try element(&self)
            count += 1
        }
        return count
    }

    /// Parses what a reference points to: a production that began at an earlier place.
    private mutating func reference(_ production: (inout RustV0Name) throws(Malformed) -> Void) throws(Malformed) {
        let start = position - 1
        guard let target = Int(exactly: try base62()), target < start else { throw Malformed() }
        let after = position
        position = target
        try production(&self)
        position = after
    }

    private mutating func binder(_ production: (inout RustV0Name) throws(Malformed) -> Void) throws(Malformed) {
        let outer = lifetimes
        if accept("G") {
            let count = try base62() + 1
            guard count < 100, lifetimes < 10_000 else { throw Malformed() }
            lifetimes += count
            try print("for<")
            for index in 0..<count {
                if index > 0 { try print(", ") }
                try printLifetime(count - index)
            }
            try print("> ")
        }
        try production(&self)
        lifetimes = outer
    }

    /// Prints the lifetime of a De Bruijn index as `'a`, `'b`, ... by order of binding; index 0 is an erased lifetime.
    private mutating func printLifetime(_ index: UInt64) throws(Malformed) {
        if index == 0 { return try print("'_") }
        guard index <= lifetimes else { throw Malformed() }
        let serial = lifetimes - index
        try print(serial < 26 ? "'\(Unicode.Scalar(UInt8(ascii: "a") + UInt8(serial)))" : "'_\(serial)")
    }

    private mutating func disambiguator() throws(Malformed) -> UInt64 { accept("s") ? try base62() + 1 : 0 }

    private mutating func identifier() throws(Malformed) -> String {
        let isPunycode = accept("u")
        let start = position
        var length = 0
        while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position], length < 100_000 {
            length = length * 10 + Int(text[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start else { throw Malformed() }
        // The length of an empty name is a single 0; digits behind it belong to what follows.
        if text[start] == UInt8(ascii: "0") { (position, length) = (start + 1, 0) }
        _ = accept("_")
        guard length <= text.count - position else { throw Malformed() }
        defer { position += length }
        let name = String(decoding: text[position..<position + length], as: UTF8.self)
        return isPunycode ? "punycode{\(name)}" : name
    }

    /// Reads a number in base 62: `_` is 0, `0_` is 1, ...
    private mutating func base62() throws(Malformed) -> UInt64 {
        if accept("_") { return 0 }
        var value: UInt64 = 0
        while !accept("_") {
            let character = try next()
            guard let byte = character.asciiValue else { throw Malformed() }
            let digit: UInt8? =
                switch character {
                case "0"..."9": byte - UInt8(ascii: "0")
                case "a"..."z": byte - UInt8(ascii: "a") + 10
                case "A"..."Z": byte - UInt8(ascii: "A") + 36
                default: nil
                }
            guard let digit else { throw Malformed() }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 62)
            guard !isTooLarge, product < UInt64.max - 64 else { throw Malformed() }
            value = product + UInt64(digit)
        }
        return value + 1
    }

    // MARK: Characters

    private mutating func enter() throws(Malformed) {
        depth += 1
        if depth > Self.depthLimit { throw Malformed() }
    }

    private mutating func print(_ part: String) throws(Malformed) {
        output += part
        if output.utf8.count > Self.outputLimit { throw Malformed() }
    }

    private mutating func next() throws(Malformed) -> Character {
        guard position < text.count else { throw Malformed() }
        defer { position += 1 }
        return Character(Unicode.Scalar(text[position]))
    }

    private mutating func accept(_ character: Character) -> Bool {
        guard position < text.count, Character(Unicode.Scalar(text[position])) == character else { return false }
        position += 1
        return true
    }

    private static let basicTypes: [Character: String] = [
        "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize", "j": "usize",
        "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_", "s": "i16", "t": "u16", "u": "()", "v": "...",
        "x": "i64", "y": "u64", "z": "!",
    ]
}
