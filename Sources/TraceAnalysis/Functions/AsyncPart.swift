/// What part of a Swift function that may suspend the code at an address is.
public struct AsyncPart: Sendable {
    public enum Kind: Sendable {
        /// The code is of no such function, or of one that never suspends.
        case none
        /// The function's beginning, up to where it may first suspend or call a function that may.
        case start
        /// What the function goes on with after suspending. It is passed the function's own context.
        case resumption
        /// What the function goes on with after a call. It is passed the context of the function that returned.
        case continuation
    }

    public var kind: Kind
    /// The same string for all parts of one function, and for thunks that lead there; nil when that is not known.
    public var function: String?
    /// Whether it is the beginning of a thunk, with the beginning of the function in it.
    public var isThunk: Bool

    public init(_ kind: Kind = .none, of function: String? = nil, isThunk: Bool = false) {
        self.kind = kind
        self.function = function
        self.isThunk = isThunk
    }
}
