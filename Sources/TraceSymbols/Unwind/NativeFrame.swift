/// A place on a thread's stack.
public struct NativeFrame: Sendable, Hashable {
    /// The next instruction that runs there.
    public var address: UInt64
    /// Whether that is where the thread, or a signal, has left off, and not where a call returns to.
    public var isExact: Bool

    public init(address: UInt64, isExact: Bool) {
        self.address = address
        self.isExact = isExact
    }

    /// An address inside the instruction that the frame is at. What a call returns to may be another function, where the call
    /// never does.
    public var lookup: UInt64 { isExact ? address : address &- 1 }
}

/// A function of a running process.
public struct NativeSymbol: Sendable {
    public var name: String
    /// False when no symbol has its address: the name is that address.
    public var isKnown: Bool
    /// Where it begins in memory.
    public var start: UInt64
    /// Whether it is the program's own, and not a library's.
    public var isProgram: Bool
}

/// A file that a running process has mapped.
public struct NativeModule: Sendable {
    public var path: String
    public var buildID: [UInt8]
    /// Address in memory minus address in the file.
    public var bias: UInt64
    public var low: UInt64
    public var high: UInt64
    public var isProgram: Bool
}
