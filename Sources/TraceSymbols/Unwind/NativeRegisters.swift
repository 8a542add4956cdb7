/// Registers of a thread, as DWARF numbers them for its machine.
public struct NativeRegisters: Sendable {
    /// Those that are known.
    let values: [(number: Int32, value: UInt64)]
    let programCounter: UInt64

    #if arch(x86_64)
        private static let stackPointer: Int32 = 7, programCounter: Int32? = 16, framePointer: Int32 = 6
    #else
        private static let stackPointer: Int32 = 31, programCounter: Int32? = nil, framePointer: Int32 = 29
    #endif

    /// Whether records of frames can be told from other words: where it is known how this machine calls.
    static var hasFramePointer: Bool { programCounter != nil }

    /// Of a thread that is blocked in a system call, the kernel tells only these two. That is enough as long as no function on
    /// the stack finds its frame by another register.
    ///
    /// - Parameter framePointer: what that register is taken to hold; nil where nothing speaks for a value.
    public init(stackPointer: UInt64, programCounter: UInt64, framePointer: UInt64? = nil) {
        self.programCounter = programCounter
        values =
            [(NativeRegisters.stackPointer, stackPointer)]
            + (framePointer.map { [(NativeRegisters.framePointer, $0)] } ?? [])
            + (NativeRegisters.programCounter.map { [($0, programCounter)] } ?? [])
    }

    /// All general registers, in DWARF's order.
    public init(all: [UInt64], programCounter: UInt64) {
        self.programCounter = programCounter
        values =
            all.enumerated().map { (Int32($0.offset), $0.element) }
            + (NativeRegisters.programCounter.map { [($0, programCounter)] } ?? [])
    }
}
