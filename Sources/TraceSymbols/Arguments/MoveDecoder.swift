/// Decodes the instructions of x86-64 that compilers use to put arguments where they need them. (Intel's Software
/// Developer's Manual, volume 2, appendix A.)
struct MoveDecoder {
    struct Memory {
        var base: Int?
        var index: Int?
        var displacement: Int
        /// A variable of the module or of the thread, and nothing on a stack.
        var isVariable = false
    }

    enum Operand {
        case general(Int)
        case vector(Int)
        case memory(Memory)
    }

    enum Instruction {
        case nothing
        /// Of a register, or of a constant.
        case push(Int?)
        case pop(Int)
        case moveStack(Int)
        /// The stack pointer is rounded down.
        case alignStack
        /// `size` bytes are copied, and as many as `extent` change.
        case move(to: Operand, from: Operand, size: Int, extent: Int)
        case address(to: Int, Memory)
        /// It gets a value that the function has not been called with.
        case constant(Operand, size: Int)
        /// These get values that are not known.
        case change([(operand: Operand, size: Int)])
        case loadFloating(Memory, Int)
        case storeFloating(Memory, Int)
        case call
        /// So far from the next instruction.
        case jump(Int, isConditional: Bool)
        /// The function ends, or goes on somewhere.
        case leave
        /// What follows it need not run.
        case other
    }

    private let code: UnsafeRawBufferPointer
    /// Where the next instruction begins.
    var position: Int
    /// What the last instruction reads or writes in memory.
    private(set) var memory: Memory?
    private var prefix = Prefix()

    private struct Prefix {
        var isWide = false, hasREX = false, is16 = false, isSegment = false
        var repeats: UInt8 = 0
        var reg = 0, index = 0, base = 0
        /// Of an instruction with three operands, the first source.
        var second: Int?
        var isLong = false
        var size: Int { isWide ? 8 : is16 ? 2 : 4 }
        /// Of a constant in an instruction, except `mov` to a wide register.
        var constantSize: Int { min(size, 4) }
    }

    init(_ code: UnsafeRawBufferPointer, at position: Int = 0) {
        self.code = code
        self.position = position
    }

    private mutating func byte() -> UInt8? {
        guard position < code.count else { return nil }
        defer { position += 1 }
        return code[position]
    }

    private mutating func displacement(_ size: Int) -> Int? {
        guard position + size <= code.count else { return nil }
        defer { position += size }
        return switch size {
        case 1: Int(Int8(bitPattern: code[position]))
        case 2: Int(Int16(littleEndian: code.loadUnaligned(fromByteOffset: position, as: Int16.self)))
        default: Int(Int32(littleEndian: code.loadUnaligned(fromByteOffset: position, as: Int32.self)))
        }
    }

    /// The next instruction; nil when it is none of those that are known.
    mutating func next() -> Instruction? {
        prefix = Prefix()
        memory = nil
        while let byte = byte() {
            switch byte {
            case 0x66: prefix.is16 = true
            case 0xf2, 0xf3: prefix.repeats = byte
            case 0x64: prefix.isSegment = true
            case 0x40...0x4f:
                prefix.hasREX = true
                prefix.isWide = byte & 8 != 0
                (prefix.reg, prefix.index, prefix.base) = (Int(byte & 4) << 1, Int(byte & 2) << 2, Int(byte & 1) << 3)
            case 0x0f: return self.byte().flatMap { two($0) }
            case 0xc4, 0xc5: return vector(byte)
            default: return one(byte)
            }
        }
        return nil
    }

    // MARK: Operands

    /// The register and the other operand of an instruction. The other one is in memory or, as `number` in a register of
    /// whatever kind.
    private struct Operands {
        var register: Int
        var number: Int?
        var memory: Memory?

        func other(isVector: Bool = false) -> Operand {
            if let memory { return .memory(memory) }
            return isVector ? .vector(number!) : .general(number!)
        }
    }

    private mutating func operands() -> Operands? {
        guard let byte = byte() else { return nil }
        let (mode, low) = (byte >> 6, Int(byte & 7)), register = Int(byte >> 3 & 7) + prefix.reg
        if mode == 3 { return Operands(register: register, number: low + prefix.base) }
        var memory = Memory(base: low + prefix.base, index: nil, displacement: 0)
        if low == 4 {
            guard let scaled = self.byte() else { return nil }
            let index = Int(scaled >> 3 & 7) + prefix.index
            memory.index = index == 4 ? nil : index
            memory.base = Int(scaled & 7) + prefix.base
            if scaled & 7 == 5, mode == 0 {
                guard displacement(4) != nil else { return nil }
                memory.base = nil
            }
        } else if low == 5, mode == 0 {
            guard displacement(4) != nil else { return nil }
            memory.base = nil
            memory.isVariable = true
        }
        if mode == 1 || mode == 2 {
            guard let more = displacement(mode == 1 ? 1 : 4) else { return nil }
            memory.displacement = more
        }
        if prefix.isSegment {
            memory.base = nil
            memory.isVariable = true
        }
        self.memory = memory
        return Operands(register: register, memory: memory)
    }

    /// Registers 4 to 7 of a byte, without REX, are the second bytes of others.
    private func isHighByte(_ number: Int?) -> Bool { !prefix.hasREX && (4...7).contains(number ?? 0) }

    // MARK: Instructions

    private mutating func one(_ code: UInt8) -> Instruction? {
        switch code {
        case 0x50...0x57: return .push(Int(code & 7) + prefix.base)
        case 0x58...0x5f: return .pop(Int(code & 7) + prefix.base)
        case 0x68, 0x6a: return displacement(code == 0x68 ? 4 : 1).map { _ in .push(nil) }
        case 0x70...0x7f: return displacement(1).map { .jump($0, isConditional: true) }
        case 0xe9, 0xeb: return displacement(code == 0xe9 ? 4 : 1).map { .jump($0, isConditional: false) }
        case 0x90: return .nothing
        case 0x88, 0x89, 0x8a, 0x8b:
            let size = code & 1 == 0 ? 1 : prefix.size
            guard let operands = operands() else { return nil }
            if size == 1, isHighByte(operands.register) || isHighByte(operands.number) { return nil }
            let extent = size == 4 && (operands.memory == nil || code >= 0x8a) ? 8 : size
            return code < 0x8a
                ? .move(to: operands.other(), from: .general(operands.register), size: size, extent: extent)
                : .move(to: .general(operands.register), from: operands.other(), size: size, extent: extent)
        case 0x8d:
            guard let operands = operands(), let memory = operands.memory else { return nil }
            return .address(to: operands.register, memory)
        case 0x63:
            guard let operands = operands() else { return nil }
            return .move(to: .general(operands.register), from: operands.other(), size: 4, extent: 8)
        case 0x24:
            // A truth value is cut to its lowest bit.
            return byte() == 1 ? .nothing : .change([(.general(0), 8)])
        case 0x80, 0x81, 0x83: return immediate(code)
        case 0x00...0x3b where code & 7 < 4:
            guard let operands = operands() else { return nil }
            if code & 0x38 == 0x38 { return .nothing }
            return .change([code & 2 != 0 ? (.general(operands.register), 8) : (operands.other(), prefix.size)])
        case 0x84, 0x85: return operands().map { _ in .nothing }
        case 0xb0...0xb7: return byte().map { _ in .change([(.general(Int(code & 7) + prefix.base), 8)]) }
        case 0xb8...0xbf:
            guard displacement(prefix.constantSize) != nil, !prefix.isWide || displacement(4) != nil else { return nil }
            return .change([(.general(Int(code & 7) + prefix.base), 8)])
        case 0xc6, 0xc7:
            guard let operands = operands(), displacement(code == 0xc6 ? 1 : prefix.constantSize) != nil else {
                return nil
            }
            return .constant(operands.other(), size: code == 0xc6 ? 1 : prefix.size)
        case 0xc0, 0xc1, 0xd1, 0xd3:
            guard let operands = operands(), code >= 0xd0 || byte() != nil else { return nil }
            return .change([(operands.other(), prefix.size)])
        case 0x98, 0x99: return .change([(.general(0), 8), (.general(2), 8)])
        case 0xd9, 0xdb, 0xdd: return floating(code)
        case 0xc3: return .leave
        case 0xe8: return displacement(4).map { _ in .call }
        case 0xff:
            guard let operands = operands() else { return nil }
            if operands.register & 7 == 2 { return .call }
            if operands.register & 7 == 4 { return .leave }
            return operands.register & 7 < 2 ? .change([(operands.other(), prefix.size)]) : .other
        default: return nil
        }
    }

    /// Arithmetic with a constant.
    private mutating func immediate(_ code: UInt8) -> Instruction? {
        guard let operands = operands(), let value = displacement(code == 0x81 ? prefix.constantSize : 1)
        else { return nil }
        let operation = operands.register & 7
        if operands.number == 4, code != 0x80 {
            if operation == 4, value < 0 { return .alignStack }
            return operation == 5 ? .moveStack(-value) : operation == 0 ? .moveStack(value) : .other
        }
        if operation == 7 || code == 0x80 && operation == 4 && value == 1 { return .nothing }
        return .change([(operands.other(), code == 0x80 ? 1 : prefix.size)])
    }

    private mutating func floating(_ code: UInt8) -> Instruction? {
        guard let operands = operands(), let memory = operands.memory else { return nil }
        switch (code, operands.register & 7) {
        case (0xd9, 0): return .loadFloating(memory, 4)
        case (0xdd, 0): return .loadFloating(memory, 8)
        case (0xdb, 5): return .loadFloating(memory, 10)
        case (0xd9, 3): return .storeFloating(memory, 4)
        case (0xdd, 3): return .storeFloating(memory, 8)
        case (0xdb, 7): return .storeFloating(memory, 10)
        default: return nil
        }
    }

    private mutating func two(_ code: UInt8) -> Instruction? {
        if code & 0xf0 == 0x80 { return displacement(4).map { .jump($0, isConditional: true) } }
        if code == 0x05 || code == 0x0b { return .other }
        if code == 0x77, prefix.second != nil { return .nothing }
        guard let operands = operands() else { return nil }
        let whole = prefix.isLong ? 32 : 16
        switch code {
        case 0x1e, 0x1f: return .nothing
        case 0xb6, 0xbe, 0xb7, 0xbf:
            let size = code & 1 == 0 ? 1 : 2
            if size == 1, isHighByte(operands.number) { return nil }
            return .move(to: .general(operands.register), from: operands.other(), size: size, extent: 8)
        case 0x10, 0x28, 0x6f:
            // Only a load from memory changes what is above.
            let size = code == 0x10 ? prefix.repeats == 0xf3 ? 4 : prefix.repeats == 0xf2 ? 8 : whole : whole
            return .move(to: .vector(operands.register), from: operands.other(isVector: true), size: size, extent: 16)
        case 0x11, 0x29, 0x7f:
            let size = code == 0x11 ? prefix.repeats == 0xf3 ? 4 : prefix.repeats == 0xf2 ? 8 : whole : whole
            return .move(to: operands.other(isVector: true), from: .vector(operands.register), size: size, extent: size)
        case 0x13, 0x17:
            guard operands.memory != nil else { return nil }
            return code == 0x13
                ? .move(to: operands.other(), from: .vector(operands.register), size: 8, extent: 8)
                : .change([(operands.other(), 8)])
        case 0x7e where prefix.repeats == 0xf3:
            return .move(to: .vector(operands.register), from: operands.other(isVector: true), size: 8, extent: 16)
        case 0xd6 where prefix.is16:
            return .move(to: operands.other(isVector: true), from: .vector(operands.register), size: 8, extent: 8)
        case 0x7e where prefix.is16:
            let size = prefix.isWide ? 8 : 4
            return .move(
                to: operands.other(), from: .vector(operands.register), size: size,
                extent: operands.memory == nil ? 8 : size)
        case 0x6e where prefix.is16:
            let size = prefix.isWide ? 8 : 4
            return .move(to: .vector(operands.register), from: operands.other(), size: size, extent: 16)
        case 0x2e, 0x2f: return .nothing
        case 0x57 where operands.number == prefix.second ?? operands.register,
            0xef where operands.number == prefix.second ?? operands.register:
            return .constant(.vector(operands.register), size: 16)
        case 0x14...0x16, 0x2a, 0x2c, 0x2d, 0x40...0x4f, 0x51...0x5f, 0x60...0x6d, 0xaf, 0xd4, 0xdb, 0xdf, 0xeb, 0xef,
            0xfe:
            return .change([(.general(operands.register), 8), (.vector(operands.register), 16)])
        default: return nil
        }
    }

    /// An instruction with a VEX prefix: what compilers write in place of those of ``two(_:)`` for processors that have AVX.
    private mutating func vector(_ code: UInt8) -> Instruction? {
        guard let first = byte() else { return nil }
        var (last, map) = (first, UInt8(1))
        prefix.hasREX = true
        prefix.reg = first & 0x80 == 0 ? 8 : 0
        if code == 0xc4 {
            guard let next = byte() else { return nil }
            (last, map) = (next, first & 31)
            (prefix.index, prefix.base) = (first & 0x40 == 0 ? 8 : 0, first & 0x20 == 0 ? 8 : 0)
            prefix.isWide = next & 0x80 != 0
        }
        prefix.second = Int(~last >> 3 & 15)
        prefix.isLong = last & 4 != 0
        prefix.is16 = last & 3 == 1
        prefix.repeats = [0, 0, 0xf3, 0xf2][Int(last & 3)]
        guard let code = byte() else { return nil }
        switch map {
        case 1: return two(code)
        case 2:
            // These widen or repeat what is in memory or a register.
            guard
                [0x18, 0x19, 0x1a, 0x58, 0x59, 0x5a, 0x78, 0x79].contains(code) || (0x20...0x25).contains(code)
                    || (0x30...0x35).contains(code)
            else { return nil }
            return operands().map { .change([(.vector($0.register), 16)]) }
        case 3:
            guard let operands = operands(), byte() != nil else { return nil }
            switch code {
            case 0x14...0x17:
                return .change([(operands.other(), operands.memory == nil ? 8 : code == 0x16 && prefix.isWide ? 8 : 4)])
            case 0x19, 0x39: return .change([(operands.other(isVector: true), 16)])
            case 0x18, 0x20...0x22, 0x38: return .change([(.vector(operands.register), 16)])
            default: return nil
            }
        default: return nil
        }
    }
}
