/// Rewrites a demangled C++ name the way people write it.
///
/// - Types of the standard library have their everyday names: `std::string`, not
///   `std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >`.
/// - Template arguments that are the default are left out: `std::map<int, X>`, `std::unique_ptr<X>`. Of a function that
///   gets a lambda, that is a `void` behind it, which constraints such as `std::enable_if_t` leave.
/// - Namespaces that only tell versions of the library apart, and ABI tags, are left out.
/// - Functions that are scopes lose their parameters.
/// - A lambda stands for its `operator()`: `f::{lambda(int)#1}`. Only the last lambda of a name keeps its parameters, which
///   tell it from others of its number, and only without their scopes. Those around it and those in template arguments are
///   `{lambda#1}`.
///
/// Which arguments are defaults follows the C++20 standard (containers, strings, streams, smart pointers) and, for its
/// internal classes, libstdc++.
struct CXXSpokenName {
    private var scanner: CXXScanner
    private var output: [UInt8] = []
    /// Whether this is a part of a name, such as a template argument.
    private let isPart: Bool

    /// - Complexity: O(length × depth of template arguments).
    static func of(_ demangled: String) -> String {
        String(decoding: rewrite(demangled.utf8, isPart: false), as: UTF8.self)
    }

    private static func rewrite(_ text: some Sequence<UInt8>, isPart: Bool = true) -> [UInt8] {
        var name = CXXSpokenName(scanner: CXXScanner(text), isPart: isPart)
        name.rewrite()
        return name.output
    }

    private mutating func rewrite() {
        while !scanner.isAtEnd {
            let byte = scanner.text[scanner.position]
            switch byte {
            case UInt8(ascii: "<") where isBehindName: rewriteArguments()
            case UInt8(ascii: "(") where isBehindName: rewriteParameters()
            case UInt8(ascii: "[") where scanner.matches("[abi:"): scanner.skipGroup()
            case UInt8(ascii: "{") where scanner.matches("{lambda"): rewriteLambda()
            case _ where scanner.isAtOperator: rewriteOperator()
            case _ where CXXScanner.isIdentifier(byte): rewriteIdentifier()
            default: copy(to: scanner.position + 1)
            }
        }
    }

    /// Whether what was written last can have template arguments or parameters.
    private var isBehindName: Bool {
        guard let last = output.last else { return false }
        return CXXScanner.isIdentifier(last) || last == UInt8(ascii: ">") || last == UInt8(ascii: "}")
    }

    private mutating func copy(to end: Int) {
        output += scanner.text[scanner.position..<end]
        scanner.position = end
    }

    // MARK: Components

    /// Inline namespaces of libstdc++ and libc++, which programs do not write.
    private static let versionNamespaces = ["__cxx11", "_V2", "__1", "__ndk1"]

    private mutating func rewriteIdentifier() {
        let start = scanner.position
        scanner.skipIdentifier()
        let identifier = String(decoding: scanner.text[start..<scanner.position], as: UTF8.self)
        if scanner.matches("::"), isInStandardLibrary, Self.versionNamespaces.contains(identifier) {
            scanner.position += 2
            return
        }
        output += (constructor(identifier) ?? identifier).utf8
    }

    /// The name of a constructor or destructor whose class is shown by another name: it gets that name, too.
    private func constructor(_ identifier: String) -> String? {
        guard identifier.hasPrefix("basic_") else { return nil }
        let scope = output.last == UInt8(ascii: "~") ? output.dropLast() : output[...]
        guard scope.suffix(2).elementsEqual("::".utf8) else { return nil }
        let name = Self.lastQualifiedName(of: scope.dropLast(2))
        return Self.everydayNames.values.contains(name) ? String(name.dropFirst("std::".count)) : nil
    }

    private mutating func rewriteOperator() {
        let start = scanner.position
        scanner.skipOperator()
        let text = scanner.text[start..<scanner.position]
        if scanner.text[start + "operator".utf8.count] == UInt8(ascii: " ") {
            output += "operator".utf8 + Self.rewrite(text.dropFirst("operator".utf8.count))
        } else {
            output += text
        }
        switch scanner.isAtEnd ? 0 : scanner.text[scanner.position] {
        case UInt8(ascii: "<"): rewriteArguments()
        case UInt8(ascii: "("): rewriteParameters()
        default: break
        }
    }

    /// Parameters of a scope are left out, others rewritten.
    private mutating func rewriteParameters() {
        let start = scanner.position
        if Self.lastQualifiedName(of: output[...]) == "decltype" { return copy(to: start + 1) }
        scanner.skipGroup()
        let end = scanner.position
        scanner.skipQualifiers()
        if scanner.matches("::") { return }
        scanner.position = end
        output += [UInt8(ascii: "(")] + Self.rewrite(scanner.text[start + 1..<end])
    }

    // MARK: Lambdas

    /// Rewrites `{lambda(int)#1}::operator()`.
    private mutating func rewriteLambda() {
        let start = scanner.position
        scanner.skipGroup()
        let lambda = scanner.text[start..<scanner.position]
        if scanner.matches("::operator()") { scanner.position += "::operator()".utf8.count }
        guard let open = lambda.firstIndex(where: { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "<") }),
            let number = lambda.lastIndex(of: UInt8(ascii: "#")), open < number
        else {
            output += lambda
            return
        }
        output += lambda[..<open]
        if !isPart, !isLambdaAhead { output += Self.withoutScopes(Self.rewrite(lambda[open..<number])) }
        output += lambda[number...]
    }

    /// `std::pair<int, app::Node> const&` becomes `pair<int, Node> const&`.
    private static func withoutScopes(_ text: [UInt8]) -> [UInt8] {
        var scanner = CXXScanner(text)
        var kept: [UInt8] = []
        while !scanner.isAtEnd {
            let start = scanner.position
            scanner.skipIdentifier()
            if scanner.position > start, scanner.matches("::") {
                scanner.position += 2
            } else {
                scanner.position = max(scanner.position, start + 1)
                kept += text[start..<scanner.position]
            }
        }
        return kept
    }

    /// Whether another lambda follows in the name itself.
    private var isLambdaAhead: Bool {
        var scanner = scanner
        while !scanner.isAtEnd {
            switch scanner.text[scanner.position] {
            case UInt8(ascii: "{"):
                if scanner.matches("{lambda") { return true }
                scanner.skipGroup()
            case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "["): scanner.skipGroup()
            case UInt8(ascii: "o") where scanner.isAtOperator: scanner.skipOperator()
            default: scanner.position += 1
            }
        }
        return false
    }

    // MARK: Template arguments

    private mutating func rewriteArguments() {
        let start = scanner.position
        scanner.skipGroup()
        let end = scanner.position
        guard scanner.text[end - 1] == UInt8(ascii: ">"), end - start > 2 else {
            output += scanner.text[start..<end]
            return
        }
        var arguments = Self.split(scanner.text[start + 1..<end - 1]).map {
            String(decoding: Self.rewrite($0), as: UTF8.self)
        }
        if isInStandardLibrary {
            while arguments.count > 1, Self.isDefault(arguments) { arguments.removeLast() }
            let template = Self.lastQualifiedName(of: output[...])
            if let name = Self.everydayName(of: template, arguments) {
                output.removeLast(template.utf8.count)
                output += name.utf8
                return
            }
            // In `operator<< <std::char_traits<char>>` the arguments tell nothing.
            if output.last == UInt8(ascii: " "), arguments.count == 1, arguments[0].hasPrefix("std::char_traits<") {
                output.removeLast()
                return
            }
        } else if arguments.last == "void", arguments.dropLast().last?.hasSuffix("}") == true, scanner.matches("(") {
            arguments.removeLast()
        }
        output += "<\(arguments.joined(separator: ", "))>".utf8
    }

    /// Splits at the commas outside of all brackets.
    private static func split(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var scanner = CXXScanner(text)
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        func part(to end: Int) -> ArraySlice<UInt8> {
            let trimmed = scanner.text[start..<end].drop { $0 == UInt8(ascii: " ") }
            return trimmed.last == UInt8(ascii: " ") ? trimmed.dropLast() : trimmed
        }
        while !scanner.isAtEnd {
            switch scanner.text[scanner.position] {
            case UInt8(ascii: ","):
                parts.append(part(to: scanner.position))
                scanner.position += 1
                start = scanner.position
            case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): scanner.skipGroup()
            case UInt8(ascii: "o") where scanner.isAtOperator: scanner.skipOperator()
            default: scanner.position += 1
            }
        }
        parts.append(part(to: scanner.text.count))
        return parts
    }

    /// Whether the last of a standard template's arguments is the default.
    private static func isDefault(_ arguments: [String]) -> Bool {
        let (first, last) = (arguments[0], arguments[arguments.count - 1])
        if last.hasPrefix("std::allocator<"), last.hasSuffix(">") { return true }
        if hashPolicies.contains(where: { last.hasPrefix("std::__detail::\($0)") }) { return true }
        let ofFirst = [
            "char_traits", "less", "equal_to", "hash", "default_delete", "regex_traits", "_Identity", "deque", "vector",
        ]
        if ofFirst.contains(where: { last == "std::\($0)<\(first)>" }) { return true }
        return last == "std::_Select1st<\(arguments[1])>" || last == "std::ratio<1l, 1l>"
    }

    /// Arguments of libstdc++'s hash tables that the other arguments determine.
    private static let hashPolicies = [
        "_Select1st", "_Identity", "_Mod_range_hashing", "_Default_ranged_hash", "_Prime_rehash_policy",
        "_Hashtable_traits<",
    ]

    /// The everyday name of a template with these arguments; nil when that is its own name.
    private static func everydayName(of template: String, _ arguments: [String]) -> String? {
        if template == "__gnu_cxx::__normal_iterator", arguments.count == 2, arguments[0].hasSuffix("*") {
            return arguments[1] + (arguments[0].hasSuffix(" const*") ? "::const_iterator" : "::iterator")
        }
        if template == "std::reverse_iterator", let iterator = arguments.first, iterator.hasPrefix("std::") {
            for (end, reverse) in [
                ("::const_iterator", "::const_reverse_iterator"), ("::iterator", "::reverse_iterator"),
            ]
            where iterator.hasSuffix(end) {
                return iterator.dropLast(end.count) + reverse
            }
        }
        return everydayNames["\(template)<\(arguments.joined(separator: ", "))>"]
    }

    private static let everydayNames: [String: String] = {
        var names: [String: String] = [:]
        let characters = [("char", ""), ("wchar_t", "w"), ("char8_t", "u8"), ("char16_t", "u16"), ("char32_t", "u32")]
        let templates = [
            "string", "string_view", "ostream", "istream", "iostream", "ios", "streambuf", "filebuf", "ofstream",
            "ifstream", "fstream", "stringbuf", "stringstream", "ostringstream", "istringstream", "regex",
        ]
        for (character, prefix) in characters {
            for template in templates { names["std::basic_\(template)<\(character)>"] = "std::\(prefix)\(template)" }
        }
        return names
    }()

    // MARK: What was written

    /// Whether the name that was written last, or is being written, belongs to the standard library.
    private var isInStandardLibrary: Bool {
        let written = output.last == UInt8(ascii: " ") ? output.dropLast() : output[...]
        let name = Self.lastQualifiedName(of: written)
        return name.hasPrefix("std::") || name.hasPrefix("__gnu_cxx::")
    }

    /// The identifiers joined by `::` that `text` ends with, an operator's name among them.
    private static func lastQualifiedName(of text: ArraySlice<UInt8>) -> String {
        let symbols = text.reversed().prefix { !CXXScanner.isIdentifier($0) && $0 != UInt8(ascii: ":") }.count
        let isOperator = text.dropLast(symbols).reversed().starts(with: "operator".utf8.reversed())
        let bytes = text.dropLast(isOperator ? symbols : 0).reversed().prefix {
            CXXScanner.isIdentifier($0) || $0 == UInt8(ascii: ":")
        }
        return String(decoding: bytes.reversed(), as: UTF8.self)
    }
}
