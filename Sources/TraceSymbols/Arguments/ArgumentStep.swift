/// A step by which the value of an argument is found, on a stack of 64-bit words that is empty where a value begins.
public enum ArgumentStep: Sendable, Hashable {
    public enum Operator: UInt8, Sendable {
        case plus, minus, and, or, shiftLeft, shiftRight, times, xor, shiftRightSigned
    }

    /// Pushes a register, by its number in DWARF.
    case register(UInt8)
    case constant(UInt64)
    /// Pushes the address in memory of an address in the module's file.
    case address(UInt64)
    case add(Int64)
    /// So many bytes of memory at the top take its place.
    case load(UInt8)
    case bits(low: UInt8, count: UInt8, isSigned: Bool)
    case compute(Operator)
    // These end a value.
    case giveValue(size: UInt8)
    case giveMemory(size: UInt8)
    /// Text in memory up to a NUL.
    case giveString
    /// As many bytes of text as the top says, in memory at the word below it.
    case giveText
    /// The text of a Swift String, whose two words are the top ones.
    case giveSwift
}

/// What kind of thing a value is, and how many bytes its record has.
public enum ArgumentKind: Sendable, Hashable {
    case signed(UInt8)
    case unsigned(UInt8)
    case bool(UInt8)
    case character(UInt8)
    case floating(UInt8)
    case pointer(UInt8)
    case enumeration(UInt8, isSigned: Bool, cases: [String: Int64])
    case text
    /// It is gone where the function begins, or the debug information does not say where it is.
    case optimizedOut
    /// Something of parts, which are not recorded.
    case aggregate
}

/// An argument of a function, or a part of one, at one call of the enter hook.
public struct FoundArgument: Sendable, Hashable {
    /// As it was asked for.
    public var name: String
    public var kind: ArgumentKind
    /// None where there is nothing to record.
    public var steps: [ArgumentStep]
}

/// A call of an enter hook, or a sled, whose function's arguments or result are asked for.
public struct ArgumentSite: Sendable {
    /// Of the hook, in the module's file; `function` for its first sled, and ``result`` for those that end it.
    public var returnAddress: UInt64
    /// What the hook reports, in the module's file.
    public var function: UInt64
    public var arguments: [FoundArgument]

    public static let result: UInt64 = 0
}

/// A part of an argument: `p->next->name`, `request.id`, `*count`.
public struct ArgumentPath: Sendable, Hashable {
    /// As it was written.
    public let text: String
    /// The argument's name, then members.
    let names: [String]
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
