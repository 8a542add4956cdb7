/// What the code at an address is of a Swift function that may suspend.
public struct AsyncPart: Sendable {
    public enum Kind: Sendable {
        /// Of none, or of one that never suspends.
        case none
        /// Its beginning, up to where it may first suspend or call a function that may.
        case start
        /// What it goes on with after suspending: it is passed its own context.
        case resumption
        /// What it goes on with after a call: it is passed the context of the function that returned.
        case continuation
    }

    public var kind: Kind
    /// The same for all parts of one function, and for thunks that lead there; nil when that is not known.
    public var function: String?
    /// It is the beginning of a thunk, with the beginning of the function in it.
    public var isThunk: Bool

    public init(_ kind: Kind = .none, of function: String? = nil, isThunk: Bool = false) {
        self.kind = kind
        self.function = function
        self.isThunk = isThunk
    }
}
