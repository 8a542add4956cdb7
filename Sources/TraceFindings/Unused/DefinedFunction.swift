/// A function that a program could have called.
public struct DefinedFunction: Sendable, Equatable {
    public var name: String
    /// As linkers know it.
    public var linkageName: String
    public var module: String
    public var file: String?
    /// From 1; 0 when it is not known.
    public var line: Int
    /// The size of its code, of all its versions.
    public var bytes: UInt64
    /// How many source lines its code comes from; 0 when that is not known.
    public var lineCount: Int
    /// Why there may be callers whom no call in the code shows: `exported`, `virtual`, `protocol witness`, `address taken`.
    public var hiddenCallers: [String] = []
    /// Whether its code was also put into callers.
    public var isInlined = false
    /// Whether nothing that the program can reach refers to it, so that a linker may leave it out.
    public var isUnreachable = false
    /// How many runs called it, ...
    public var runs = 0
    /// ... of those that had its module.
    public var possibleRuns = 0

    public init(
        name: String, linkageName: String, module: String, file: String?, line: Int, bytes: UInt64, lineCount: Int
    ) {
        self.name = name
        self.linkageName = linkageName
        self.module = module
        self.file = file
        self.line = line
        self.bytes = bytes
        self.lineCount = lineCount
    }

    /// Whether the user should look before removing it.
    public var needsVerification: Bool { !hiddenCallers.isEmpty }
}
