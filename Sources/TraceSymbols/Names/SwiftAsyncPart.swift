/// A part of a Swift function that may suspend. The compiler divides such a function at each place where it may
/// (docs/ABI/Mangling.rst of Swift: `TQ`, `TY`, each with a number).
public enum SwiftAsyncPart: Sendable, Equatable {
    /// The beginning, which has the function's own name.
    case start
    /// `TY`: it is passed the function's own context.
    case resumption
    /// `TQ`: it is passed the context of the function that returned.
    case continuation

    /// - Returns: nil when `linkageName` is of a function that is not divided, or of the beginning of one that is.
    init?(linkageName: String) {
        guard let (_, kind) = Self.split(linkageName) else { return nil }
        self = kind == UInt8(ascii: "Y") ? .resumption : .continuation
    }

    /// The name of the function that `linkageName` is a part of; nil when it is a function by itself.
    static func stem(of linkageName: String) -> String? { split(linkageName)?.stem }

    private static func split(_ linkageName: String) -> (stem: String, kind: UInt8)? {
        let name = linkageName.utf8
        guard name.last == UInt8(ascii: "_"),
            name.first == UInt8(ascii: "$") || name.first == UInt8(ascii: "a") || name.first == UInt8(ascii: "_")
        else { return nil }
        let digits = name.dropLast().reversed().prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
        let rest = name.dropLast(digits + 1)
        guard digits > 0, let kind = rest.last, kind == UInt8(ascii: "Y") || kind == UInt8(ascii: "Q"),
            rest.dropLast().last == UInt8(ascii: "T")
        else { return nil }
        return (String(Substring(rest.dropLast(2))), kind)
    }
}
