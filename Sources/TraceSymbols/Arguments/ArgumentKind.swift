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
