internal import CTraceFormat

/// A name that the program gave by `fathom.h`.
public struct GivenName: Sendable, Equatable {
    public enum Kind: UInt32, Sendable { case scope = 1, mark, counter, object }

    public var kind: Kind
    /// As it may be shown.
    public var text: String

    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// The id that stands for all names there was no room for.
    public static let unkept: UInt32 = 0
    /// A named scope is a call of the function at this address plus the name's id.
    public static let scopeBase = fathom_scope_base()
}
