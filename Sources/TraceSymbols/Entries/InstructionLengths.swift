internal import CInstructions

/// How long the instructions of x86-64 are.
struct InstructionLengths {
    /// The bytes of the instruction at `start`; 0 where there is none, or it does not end within `code`.
    func length(_ code: UnsafeRawBufferPointer, at start: Int) -> Int {
        guard start < code.count, let bytes = code.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
        return Int(fathom_instruction_at(bytes + start, code.count - start).length)
    }
}
