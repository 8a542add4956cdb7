/// A name pattern of the command line: a name, a glob (`*`, `?`, `[a-z]`), or `/regular expression/`.
///
/// A pattern of functions matches a whole name, or the whole of it before the argument list. A name without the marks of a glob is
/// also the last part of a qualified name, or several last parts: `push_back` and `vector::push_back` match
/// `std::vector<int>::push_back`; see ``QualifiedName``. `=NAME` is exactly that name. A regular expression may match any part
/// of a name. `NAME@MODULE` matches functions of a module, and `@MODULE` all of them; see ``ModulePattern``. Names with these
/// marks are matched by patterns that are written like them, too.
public struct Pattern {
    private enum Matcher {
        case anything
        case glob([UInt8])
        case expression(Regex<AnyRegexOutput>)
        /// The end of a qualified name.
        case last([UInt8])
        /// A whole name, to its argument list at least.
        case whole([UInt8])
        /// A whole name.
        case name(String)
    }

    private let matcher: Matcher
    /// The same in a module.
    private let part: (name: Matcher, module: ModulePattern)?
    /// The pattern as it was written.
    public let text: String

    /// Why a pattern is refused.
    public struct InvalidPattern: Error, CustomStringConvertible {
        public let pattern: String
        public var description: String { "'\(pattern)' is not a regular expression" }
    }

    /// Reads `text` as a pattern of functions.
    ///
    /// - Throws: ``InvalidPattern`` when what stands between the slashes is no regular expression.
    public init(_ text: String) throws(InvalidPattern) {
        self.text = text
        matcher = try Self.matcher(text)
        guard !Self.isExpression(text), let at = text.lastIndex(of: "@"), text.index(after: at) < text.endIndex else {
            part = nil
            return
        }
        let name = String(text[..<at])
        part = (
            name.isEmpty ? .anything : try Self.matcher(name),
            try ModulePattern(String(text[text.index(after: at)...]))
        )
    }

    /// Reads `text` as a pattern of names that are not qualified: those of threads, processes and files.
    public init(unqualified text: String) throws(InvalidPattern) {
        self.text = text
        part = nil
        matcher = Self.isExpression(text) ? try Self.matcher(text) : .glob(Array(text.utf8))
    }

    /// The pattern that matches this name, whatever characters it has, and no other.
    public init(exactly name: String) {
        text = name
        part = nil
        matcher = .name(name)
    }

    private static func isExpression(_ text: String) -> Bool {
        text.utf8.count >= 2 && text.hasPrefix("/") && text.hasSuffix("/")
    }

    private static func matcher(_ text: String) throws(InvalidPattern) -> Matcher {
        if isExpression(text) {
            do { return .expression(try Regex(String(text.dropFirst().dropLast()))) } catch {
                throw InvalidPattern(pattern: text)
            }
        }
        let bytes = Array(text.utf8)
        if bytes.count > 1, bytes[0] == UInt8(ascii: "=") { return .whole(Array(bytes.dropFirst())) }
        return bytes.isEmpty || Glob.hasMarks(bytes) ? .glob(bytes) : .last(bytes)
    }

    /// Whether a function of this name is one that the pattern is for.
    ///
    /// - Parameter module: the path of the function's module; nil where that is not known.
    /// - Complexity: O(length of the name), for a glob times that of the pattern.
    public func matches(_ name: String, module: String? = nil) -> Bool {
        if matches(matcher, name) { return true }
        guard let part, let module else { return false }
        return part.module.matches(module) && matches(part.name, name)
    }

    private func matches(_ matcher: Matcher, _ name: String) -> Bool {
        switch matcher {
        case .anything: return true
        case .glob(let glob): return Self.isWhole(name) { Glob.matches(glob[...], $0) }
        case .expression(let expression): return name.firstMatch(of: expression) != nil
        case .last(let end): return QualifiedName.ends(name, with: end)
        case .whole(let whole):
            // Operators of Swift may begin with this mark.
            return Self.isWhole(name) { $0.elementsEqual(whole) }
                || name.utf8.first == UInt8(ascii: "=") && Self.isWhole(name) { $0.elementsEqual(text.utf8) }
        case .name(let only): return name == only
        }
    }

    /// Whether `matches` holds of a name, or of it before its argument list.
    private static func isWhole(_ name: String, _ matches: (ArraySlice<UInt8>) -> Bool) -> Bool {
        let bytes = Array(name.utf8)
        return matches(bytes[...]) || matches(QualifiedName.withoutArguments(bytes))
    }

    /// The name of a function that the pattern matches although it is not all of it, up to its arguments; nil of others.
    public func longerName(of name: String) -> String? {
        guard case .last(let end) = matcher, QualifiedName.ends(name, with: end) else { return nil }
        let whole = QualifiedName.withoutArguments(Array(name.utf8))
        let bare = QualifiedName.withoutTemplateArguments(whole) ?? Array(whole)
        return bare == end ? nil : String(decoding: bare, as: UTF8.self)
    }

    /// Says which functions' names end with the pattern, if several do, or one does and another is it; nil otherwise.
    ///
    /// - Complexity: O(length of all names).
    public func severalNames(among names: some Sequence<String>) -> String? {
        guard case .last(let end) = matcher else { return nil }
        var found: Set<String> = []
        for name in names where matches(name) {
            found.insert(longerName(of: name) ?? String(decoding: end, as: UTF8.self))
        }
        guard found.count > 1 else { return nil }
        let shown = found.sorted().prefix(4), more = found.count - shown.count
        return
            "'\(text)' matches \(shown.joined(separator: ", "))\(more > 0 ? " and \(more) more" : ""); '=NAME' is one name"
    }

    /// The name that was asked for, without the marks of a pattern; empty for a regular expression.
    public var askedName: String {
        if Self.isExpression(text) { return "" }
        let name = part == nil ? text[...] : text[..<(text.lastIndex(of: "@") ?? text.endIndex)]
        let isMarked = name.count > 1 && name.first == "="
        return String((isMarked ? name.dropFirst() : name).filter { !"*?[]".contains($0) })
    }

    /// The pattern that matches `name` up to its argument list, and no name that ends with it.
    public static func glob(of name: String) -> String {
        String(decoding: QualifiedName.withoutArguments(Array(name.utf8)), as: UTF8.self)
    }
}

extension Pattern {
    /// Whether the pattern is for a function.
    public func matches(_ function: ResolvedFunction) -> Bool { matches(function.name, module: function.module) }
}
