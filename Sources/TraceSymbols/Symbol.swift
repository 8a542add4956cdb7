/// A function as a person knows it.
public struct Symbol: Sendable, Equatable {
    /// Demangled, without parameter list and return type: `ns::Class<int>::method`, `Type.method(label:)` in Swift.
    /// `libx.so+0x1234` when unknown.
    public var name: String
    /// The name the linker knows, `_ZN2ns5ClassIiE6methodEv.cold`; equal to ``name`` when unknown.
    public var linkageName: String
    /// Source file of the definition, as the compiler recorded it; nil without debug information.
    public var file: String?
    /// Line of the definition, from 1; 0 without debug information.
    public var line: Int
    /// File address of the function's first byte; the address asked for when the function is unknown.
    public var start: UInt64
    /// Of its code, in bytes, as the symbol table has it; nil when unknown.
    public var size: UInt64?
    /// False when no symbol covers the address.
    public var isKnown: Bool
    /// Whether the compiler made the function by itself: a metadata accessor, or a thunk, which only calls another
    /// function.
    public var isCompilerMade = false
    /// Whether it is a Swift function, or one that Swift's compiler made for itself; false with raw names.
    public var isSwift = false
    /// The full declaration that all versions of a function share, specialised or not; nil when it is not known.
    public var identity: String?
}
