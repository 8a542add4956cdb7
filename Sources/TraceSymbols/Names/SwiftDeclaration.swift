internal import Glibc

/// The name of a declaration, taken from what `swift_demangle` writes.
struct SwiftDeclaration {
    var name: String
    /// Whether it is an initializer or deinitializer that also allocates or frees the memory. It leads to the one that
    /// was written.
    private(set) var isAllocation = false

    /// - Parameter isWitness: whether `text` is a protocol's requirement with the type that meets it. It is then named
    ///   as a member of that type.
    init(_ text: Substring, isWitness: Bool) {
        let whole = text
        var text = text
        if isWitness, let end = Self.end(of: " in conformance ", in: text) {
            let requirement = text[..<text.index(end, offsetBy: -" in conformance ".count)]
            let type = Self.endOfWords(whole[end...], " : ")
            var path = Path(requirement)
            path.replaceType(by: Path.typeName(whole[end..<type]))
            name = path.text
            return
        }
        // `closure #1 (Int) -> Int in main()`, `helper #1 () -> () in main()`, `default argument 0 of main()`.
        for form in Self.parts where text.hasPrefix(form) {
            guard let end = Self.end(of: " of ", in: text) ?? Self.end(of: " for ", in: text) else { break }
            let label = form == "one-time initialization function for " ? "initial value" : Self.label(text)
            name = label + " of " + SwiftDeclaration(text[end...], isWitness: false).name
            return
        }
        if let label = Self.numbered(text), let end = Self.end(of: " in ", in: text[label.endIndex...]) {
            name = label + " in " + SwiftDeclaration(text[end...], isWitness: false).name
            return
        }
        if let end = Self.end(of: " with unmangled suffix ", in: text) {
            text = text[..<text.index(end, offsetBy: -" with unmangled suffix ".count)]
        }
        let path = Path(text)
        name = path.text
        isAllocation = path.isAllocation
    }

    private static let parts = [
        "default argument ", "one-time initialization function for ", "property wrapper backing initializer of ",
        "property wrapper init from projected value of ",
    ]

    /// The words before ` of `.
    private static func label(_ text: Substring) -> String {
        guard let end = end(of: " of ", in: text) else { return String(text) }
        return String(text[..<text.index(end, offsetBy: -" of ".count)])
    }

    /// `closure #1`, `implicit closure #2`, `helper #1` at the start of `text`.
    private static func numbered(_ text: Substring) -> Substring? {
        guard let sign = text.firstIndex(of: "#"), sign > text.startIndex else { return nil }
        let before = text[..<sign]
        guard !before.contains("("), !before.contains("<"), !before.contains("."), before.hasSuffix(" ") else {
            return nil
        }
        let digits = text[text.index(after: sign)...].prefix { $0.isWholeNumber }
        return digits.isEmpty ? nil : text[..<digits.endIndex]
    }

    private static func end(of word: String, in text: Substring) -> String.Index? {
        var scanner = BracketScanner(text)
        return scanner.end(of: word)
    }

    /// Where `word` starts in `text`, or its end.
    private static func endOfWords(_ text: Substring, _ word: String) -> String.Index {
        end(of: word, in: text).map { text.index($0, offsetBy: -word.count) } ?? text.endIndex
    }
}

extension SwiftDeclaration {
    /// `static module.Type.method(label:)`, taken apart.
    struct Path {
        private var prefix = ""
        /// The components of the name, without the module.
        private var components: [String] = []
        private var parameters = ""
        private(set) var isAllocation = false

        var text: String { prefix + components.joined(separator: ".") + parameters }

        init(_ declaration: Substring) {
            var rest = declaration
            if rest.hasPrefix("static ") {
                prefix = "static "
                rest = rest.dropFirst(prefix.count)
            }
            if rest.hasPrefix("(extension in "), let end = rest.firstIndex(of: ")") {
                rest = rest[end...].dropFirst(2)
            }
            parse(rest)
            if components.count > 1 { components.removeFirst() }
            guard let last = components.last else { return }
            switch last {
            case "__derived_enum_equals", "__derived_struct_equals":
                components[components.count - 1] = "=="
                return
            case "__allocating_init": components[components.count - 1] = "init"
            case "__deallocating_deinit", "__isolated_deallocating_deinit": components[components.count - 1] = "deinit"
            default: return
            }
            isAllocation = true
        }

        /// Names a requirement of a protocol as the member of a type that meets it.
        mutating func replaceType(by type: String) {
            guard components.count > 1 else { return }
            components[0] = type
        }

        /// The name of a type: `Box` for `<A> module.Box<A>`.
        static func typeName(_ text: Substring) -> String {
            var text = text
            if text.hasPrefix("<") {
                var scanner = BracketScanner(text)
                scanner.skipBrackets()
                text = text[scanner.index...].drop { $0 == " " }
            }
            guard let first = text.first, first.isLetter || first == "_" || first == "(" else { return String(text) }
            if first == "(", text.dropFirst().first == ")" || text.contains(",") { return String(text) }
            let path = Path(text)
            return path.components.isEmpty ? String(text) : path.components.joined(separator: ".")
        }

        private mutating func parse(_ text: Substring) {
            var rest = text
            while let first = rest.first {
                if first == "(" {
                    rest = parsePrivate(rest)
                } else if Self.isOperator(first) {
                    // An operator: `== infix(A, A)`.
                    let name = rest.prefix { $0 != " " && $0 != "(" }
                    rest = rest.dropFirst(name.count)
                    for fixity in [" infix", " prefix", " postfix"] where rest.hasPrefix(fixity) {
                        rest = rest.dropFirst(fixity.count)
                    }
                    components.append(String(name))
                } else {
                    let name = rest.prefix { $0 != "." && $0 != "(" && $0 != "<" && $0 != " " }
                    if name.isEmpty { return }
                    rest = rest.dropFirst(name.count)
                    components.append(String(name))
                }
                if rest.first == "<" {
                    var scanner = BracketScanner(rest)
                    scanner.skipBrackets()
                    rest = rest[scanner.index...]
                }
                if rest.first == "(" {
                    parameters = Self.labels(rest)
                    return
                }
                guard rest.first == "." else { return }
                rest = rest.dropFirst()
            }
        }

        /// `(name in _0123ABCD)` of a private declaration, `(Type #1 in main() -> ())` of a local one.
        private mutating func parsePrivate(_ text: Substring) -> Substring {
            var scanner = BracketScanner(text)
            scanner.skipBrackets()
            let inner = text[..<scanner.index].dropFirst().dropLast()
            if let end = inner.end(of: " #") {
                if components.isEmpty { components.append("") }  // for the module, whose name is inside the parentheses
                components.append(String(inner[..<end].dropLast(2)))
            } else if let end = inner.end(of: " in ") {
                components.append(String(inner[..<end].dropLast(4)))
            }
            return text[scanner.index...]
        }

        /// `(_:by:)` for `(Swift.Int, by: Swift.Int) -> ()`.
        private static func labels(_ text: Substring) -> String {
            var whole = BracketScanner(text)
            whole.skipBrackets()
            var rest = text[..<whole.index].dropFirst().dropLast()
            var labels = "("
            while !rest.isEmpty {
                var scanner = BracketScanner(rest)
                let end = scanner.end(of: ", ")
                let parameter = end.map { rest[..<$0] } ?? rest
                let label = parameter.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" }
                labels += parameter.dropFirst(label.count).hasPrefix(": ") ? "\(label):" : "_:"
                rest = end.map { rest[$0...] } ?? ""
            }
            return labels + ")"
        }

        private static func isOperator(_ character: Character) -> Bool {
            "/=-+!*%<>&|^~?".contains(character)
                || (character.unicodeScalars.first!.value >= 0x80 && character.isSymbol)
        }
    }
}

extension Substring {
    /// The index behind the first `word`, or nil. O(n).
    func end(of word: String) -> String.Index? {
        var (text, word) = (self, word)
        let end = text.withUTF8 { text -> Int? in
            word.withUTF8 { word in
                var index = 0
                while index + word.count <= text.count {
                    if memcmp(text.baseAddress! + index, word.baseAddress!, word.count) == 0 {
                        return index + word.count
                    }
                    index += 1
                }
                return nil
            }
        }
        return end.map { utf8.index(startIndex, offsetBy: $0) }
    }
}
