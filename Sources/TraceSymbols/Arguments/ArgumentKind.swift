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
    /// Of characters of so many bytes.
    case wideText(UInt8)
    /// So many of the values that follow are its members, or members of those.
    case structure(Int)
    /// It is gone where the function begins.
    case optimizedOut
    /// Something may be there, but nothing shows that it is the argument.
    case unknown(UnknownPlace)
    /// Something of parts, which are not recorded.
    case aggregate
}

/// Why it is not known where a value is.
public enum UnknownPlace: String, Sendable {
    /// What is said of an argument of a function that was inlined may be of a value that it was given later.
    case inlined = "inlined"
    /// The compiler need not have passed it as others pass it.
    case convention = "passed in another way"
    /// It is not known how values of its type, or of that of an argument before it, are passed.
    case type = "how its type is passed"
    /// The function may throw in place of returning.
    case throwing = "it may throw"
    /// The function does not look at what the argument leads to, so it need not be there.
    case unread = "not looked at"
    /// The code before the hook does not show where it is.
    case code = "not found in the code"
}
