internal import Glibc

/// Names that macros of Swift make for what they add to a program. Such a name is a mangled name itself, which stands in that of the
/// function: `$s9CoreTests1g4TestfMp_17Z66acbc7e95228dcafMu_` is what `@Test` adds for the function `g`.
enum SwiftMacroName {
    /// Returns text in which such names are spelt out: `@Test g`, or `@Test g generator` where several things are added. O(text).
    static func spelt(_ text: String) -> String {
        guard strstr(text, end) != nil else { return text }
        return text.replacing(name) { match in
            let mangled = String(match.output)
            return demangleSwift(mangled).map { words(for: $0) } ?? mangled
        }
    }

    /// How the name of a macro's own ends: the mangling of "unique name" (Swift's Mangling.rst, "macro-unique").
    private static let end = "fMu"
    private static var name: Regex<Substring> { #/\$s[A-Za-z0-9_]*?fMu[0-9]*_/# }

    /// - Parameter text: such as `unique name #1 of generator66acbc7e95228dca in peer macro @Test expansion #1 of g in CoreTests`.
    private static func words(for text: String) -> String {
        let form =
            #/unique name #([0-9]+) of (\S+) in [a-z ]*macro (@\S+ )?expansion #[0-9]+ of (\S+?)(\(.*)?( in .*)?/#
        guard let match = text.wholeMatch(of: form) else { return text }
        var words = (match.3.map(String.init) ?? "#") + match.4
        // Macros end the names of what they add with a number, so that each is another one.
        let part = match.2.replacing(#/Z?[0-9a-f]{12,16}$/#, with: "")
        if !part.isEmpty { words += " \(part)" }
        if match.1 != "1" { words += " #\(match.1)" }
        return words
    }
}
