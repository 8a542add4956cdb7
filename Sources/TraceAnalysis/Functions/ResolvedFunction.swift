/// What people are shown of a function.
public struct ResolvedFunction: Sendable {
    /// Demangled.
    public var name: String
    /// Path of its module, or nil.
    public var module: String?
    /// Where it is defined.
    public var file: String?
    public var line: Int
    /// Nobody wrote it: its time is its caller's, and what it calls its caller's callees, unless compiler-made functions are
    /// asked for.
    public var isCompilerMade = false
    /// It is Swift's, where names are those of the source.
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
