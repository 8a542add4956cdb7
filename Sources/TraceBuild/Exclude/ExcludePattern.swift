/// The patterns of an exclude list, as compilers take them.
public enum ExcludePattern {
    /// A pattern that leaves out the function that Fathom shows as `name`, with gcc and with clang; nil when there is none.
    ///
    /// gcc writes template arguments, and parts that have no name, in its own way. A pattern holds neither:
    /// `std::vector<int, std::allocator<int> >::size` becomes `*::size`.
    public static func of(_ name: String) -> String? {
        guard !name.contains("{"), !name.contains("\n") else { return nil }  // gcc has other names for lambdas
        var rest = name[...]
        var (before, behind) = ("", "")
        var operatorName = ""
        if let operation = lastOperator(in: name) {
            operatorName = String(name[operation...])
            rest = name[..<operation]
            // Template arguments of an operator.
            if operatorName.contains(" <") { return nil }
        } else if rest.last == ">" {
            guard let open = openingBracket(of: rest) else { return nil }
            rest = rest[..<open]
            behind = "<*"
        }
        for scope in [">", "(anonymous namespace)"] {
            guard let range = rest.ranges(of: scope).last else { continue }
            rest = rest[range.upperBound...]
            before = "*"
        }
        // `std::to_string` is `std::__cxx11::to_string` for compilers, and `std::string` something else altogether.
        if before + behind + operatorName == "", rest.hasPrefix("std::"), let scope = rest.ranges(of: "::").last {
            rest = rest[scope.lowerBound...]
            before = "*"
        }
        if let clone = rest.firstIndex(of: ".") {  // f.lto_priv.0: the compiler knows it as f when it adds the hooks
            rest = rest[..<clone]
            behind = "*"
        }
        guard !rest.contains("("), !rest.contains("<"), !operatorName.contains("."), rest + operatorName != "" else {
            return nil
        }
        let pattern = before + rest + operatorName + behind
        // The pattern must be read back from a list unchanged, and match its own function with both compilers.
        guard ExcludeList.name(in: pattern) == pattern, Glob.matches(pattern, name), gccText(pattern) != "" else {
            return nil
        }
        return pattern
    }

    /// Whether a compiler leaves out a function of this name for the pattern: clang by the whole name, gcc by a part of it.
    public static func leavesOut(_ pattern: String, _ name: String) -> Bool {
        if Glob.matches(pattern, name) { return true }
        let text = gccText(pattern)
        return !text.isEmpty && name.contains(text)
    }

    /// The text that gcc gets, which knows no globs: the longest part of the pattern without a star.
    static func gccText(_ pattern: String) -> String {
        pattern.split(separator: "*").max { $0.utf8.count < $1.utf8.count }.map(String.init) ?? ""
    }

    /// Where the last component begins, if it is `operator` with symbols or a type behind it.
    private static func lastOperator(in name: String) -> String.Index? {
        for range in name.ranges(of: "operator").reversed() {
            let startsComponent = range.lowerBound == name.startIndex || name[..<range.lowerBound].hasSuffix("::")
            guard startsComponent, let next = name[range.upperBound...].first, !next.isLetter, !next.isNumber,
                next != "_"
            else { continue }
            // If more components follow, the last one is no operator.
            return name[range.upperBound...].contains("::") ? nil : range.lowerBound
        }
        return nil
    }

    /// The bracket that the last character closes.
    private static func openingBracket(of text: Substring) -> String.Index? {
        var depth = 0
        for index in text.indices.reversed() {
            if text[index] == ">" { depth += 1 }
            if text[index] == "<" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}
