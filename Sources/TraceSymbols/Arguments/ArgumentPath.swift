/// A part of an argument: `p->next->name`, `request.id`, `*count`.
public struct ArgumentPath: Sendable, Hashable {
    /// As it was written.
    public let text: String
    /// The argument's name, then members.
    public let names: [String]
    /// How often the end is dereferenced.
    let dereferences: Int

    /// Stands for all arguments of a function.
    public static let all = ArgumentPath()

    private init() { (text, names, dereferences) = ("", [], 0) }

    /// nil when it is none.
    public init?(_ text: String) {
        self.text = text
        let stars = text.prefix { $0 == "*" }.count
        let parts = text.dropFirst(stars).split(separator: ".", omittingEmptySubsequences: false).flatMap { part in
            Self.split(part)
        }
        guard !parts.isEmpty, parts.allSatisfy(Self.isName) else { return nil }
        names = parts.map(String.init)
        dereferences = stars
    }

    private static func split(_ text: Substring) -> [Substring] {
        var parts: [Substring] = [], rest = text
        while let index = rest.indices.first(where: { rest[$0...].hasPrefix("->") }) {
            parts.append(rest[..<index])
            rest = rest[rest.index(index, offsetBy: 2)...]
        }
        return parts + [rest]
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 == "_" || $0 == "$" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
        }
    }
}
