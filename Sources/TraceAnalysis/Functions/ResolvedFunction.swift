/// What people are shown of a function.
public struct ResolvedFunction: Sendable {
    /// The demangled name.
    public var name: String
    /// Path of its module, or nil.
    public var module: String?
    /// Where it is defined.
    public var file: String?
    public var line: Int
    /// Of its code, in bytes; nil when it is not known.
    public var size: UInt64?
    /// Whether the compiler made the function for itself. Then its time is its caller's, and its callees are its caller's callees,
    /// unless compiler-made functions are asked for.
    public var isCompilerMade = false
    /// Whether it is a Swift function, whose name is that of the source.
    public var isSwift = false

    /// False when no symbol has its address: the name is that address.
    public var isKnown: Bool

    public init(name: String, module: String?, file: String?, line: Int, isKnown: Bool = true) {
        self.name = name
        self.module = module
        self.file = file
        self.line = line
        self.isKnown = isKnown
    }
}
