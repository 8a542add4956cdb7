/// A step by which the value of an argument is found, on a stack of 64-bit words that is empty where a value begins.
public enum ArgumentStep: Sendable, Hashable {
    public enum Operator: UInt8, Sendable {
        case plus, minus, and, or, shiftLeft, shiftRight, times, xor, shiftRightSigned
    }

    /// Pushes a register, by its number in DWARF.
    case register(UInt8)
    /// Pushes errno.
    case error
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
    /// Text in memory, up to a NUL or so many bytes.
    case giveCharacters(size: UInt16)
    /// Text of characters of so many bytes, in memory up to a NUL.
    case giveWide(size: UInt8)
    /// The text of a Swift String, whose two words are the top ones.
    case giveSwift
}
