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
    /// File address of the function's first byte; of the address asked for when unknown.
    public var start: UInt64
    /// False when no symbol covers the address.
    public var isKnown: Bool
    /// Only the compiler knows of it: a metadata accessor, or a thunk that calls what it leads to.
    public var isCompilerMade = false
    /// It is a Swift function, or what that compiler made; not told with raw names.
    public var isSwift = false
    /// What this is one of several versions of, specialised or not, in full; nil when there is no saying.
    public var identity: String?
}
