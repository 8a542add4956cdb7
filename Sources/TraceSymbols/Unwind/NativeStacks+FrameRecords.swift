extension NativeStacks {
    /// The frames of a thread of which only the stack pointer and the program counter are known, innermost first.
    ///
    /// Code with frame pointers finds its caller by a register that is not known then. What it points to is on the stack: the
    /// caller's frame pointer and, behind that, the address that the function returns to. The record is taken for that
    /// function's only where it returns to behind a call of it, where the stack is whole from there on, and where no other record
    /// is like that.
    ///
    /// - Returns: The frames, and whether they lead up to where the thread began.
    /// - Complexity: one more unwinding for each record that may be the one; at most ``recordRange`` bytes are searched.
    public func frames(
        of tid: Int32, stackPointer: UInt64, programCounter: UInt64
    ) -> (frames: [NativeFrame], isWhole: Bool) {
        let known = NativeRegisters(stackPointer: stackPointer, programCounter: programCounter)
        let (frames, hasEnded) = frames(of: tid, known)
        guard NativeRegisters.hasFramePointer, let last = frames.last, let pointer = stackPointers.last else {
            return (frames, hasEnded)
        }
        // A function that finds its caller by a register that is not known counts as the outermost one in libdwfl. With any value
        // in that register, it has a caller.
        let values = stride(from: stackPointer, to: stackPointer + NativeStacks.probeRange, by: 8)
        let probe = values.first { load($0 + 8) ?? 0 != 0 }.map { value in
            NativeRegisters(stackPointer: stackPointer, programCounter: programCounter, framePointer: value)
        }
        let isWhole = hasEnded && probe.map { self.frames(of: tid, $0).frames.count == frames.count } ?? true
        let plain = (frames: frames, isWhole: isWhole)
        guard !isWhole, pointer != 0, let start = symbol(at: last)?.start else { return plain }
        var found: [NativeFrame] = []
        let first = (pointer + 15) & ~15
        for record in stride(from: first, to: first + NativeStacks.recordRange, by: 16) {
            guard let caller = load(record + 8), isCall(of: start, before: caller) else { continue }
            let registers = NativeRegisters(
                stackPointer: stackPointer, programCounter: programCounter, framePointer: record)
            let (frames, isWhole) = self.frames(of: tid, registers)
            guard isWhole, frames.count > plain.frames.count, frames.starts(with: plain.frames) else { continue }
            // A function that calls itself has such a record for each call, of which the innermost leads to all others.
            if found.isEmpty {
                found = frames
            } else if !found.reversed().starts(with: frames.dropFirst(plain.frames.count).reversed()) {
                return plain
            }
        }
        return found.isEmpty ? plain : (found, true)
    }

    /// How far from the stack pointer words are looked at for one that is not zero, in bytes.
    private static let probeRange: UInt64 = 512
    /// As far as the frame of a function may reach that waits, in bytes.
    private static let recordRange: UInt64 = 16384

    /// Whether the instruction before `address` calls the function at `start`: at once, through a stub of the procedure linkage
    /// table, or through a slot of the global offset table (Intel SDM vol. 2, CALL and JMP).
    private func isCall(of start: UInt64, before address: UInt64) -> Bool {
        guard address > 8, let bytes = load(address &- 8) else { return false }
        let distance = UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bytes >> 32)))
        if bytes >> 16 & 0xffff == 0x15ff { return load(address &+ distance) == start }
        guard bytes >> 24 & 0xff == 0xe8 else { return false }
        let target = address &+ distance
        return target == start || isStub(at: target, to: start)
    }

    /// Whether code jumps to `start` through a slot.
    private func isStub(at address: UInt64, to start: UInt64) -> Bool {
        var address = address
        guard var bytes = load(address) else { return false }
        // endbr64, bnd
        for prefix in [(size: UInt64(4), value: UInt64(0xfa1e_0ff3)), (size: UInt64(1), value: UInt64(0xf2))]
        where bytes & (1 << (8 * prefix.size) - 1) == prefix.value {
            address += prefix.size
            guard let next = load(address) else { return false }
            bytes = next
        }
        guard bytes & 0xffff == 0x25ff else { return false }
        return load(address &+ 6 &+ UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bytes >> 16)))) == start
    }
}
