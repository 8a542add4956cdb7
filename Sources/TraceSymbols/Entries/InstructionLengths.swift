/// How long the instructions of x86-64 are. (Intel's Software Developer's Manual, volume 2: chapter 2 for prefixes and
/// operands, appendix A for the maps of opcodes.)
struct InstructionLengths {
    /// What follows an opcode, a letter for each: `X` is none in 64-bit mode, `N` nothing, `M` an operand in memory or a
    /// register; immediates are `b` a byte, `w` two, `d` four or with a prefix two, `j` four always, `q` as `d` or eight with
    /// REX.W, `a` an address, `e` three bytes; `B` and `D` are `M` with `b` and `d`; `t` and `u` are `M` with `b` or `d` where
    /// the operation is a test.
    private let oneByte = Array(
        """
        MMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXXMMMMbdXX\
        XXXXXXXXXXXXXXXXNNNNNNNNNNNNNNNNXXXMXXXXdDbBNNNNbbbbbbbbbbbbbbbb\
        BDXBMMMMMMMMMMMMNNNNNNNNNNXNNNNNaaaaNNNNbdNNNNNNbbbbbbbbqqqqqqqq\
        BBwNXXBDeNwNNbXNMMMMXXXNMMMMMMMMbbbbbbbbjjXbNNNNXNXXNNtuNNNNNNMM
        """.utf8)
    /// The same for opcodes behind 0F.
    private let twoBytes = Array(
        """
        MMMMXNNNNNXNXMNBMMMMMMMMMMMMMMMMMMMMXXXXMMMMMMMMNNNNNNXNXXXXXXXX\
        MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMBBBBMMMNMMMMMMMM\
        jjjjjjjjjjjjjjjjMMMMMMMMMMMMMMMMNNNMBMMMNNNMBMMMMMMMMMMMMMBMMMMM\
        MMBMBBBMNNNNNNNNMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
        """.utf8)

    private struct Prefixes {
        var hasOperandSize = false, hasAddressSize = false, isWide = false
    }

    /// The bytes of the instruction at `start`; 0 where there is none, or it does not end within `code`.
    func length(_ code: UnsafeRawBufferPointer, at start: Int) -> Int {
        var position = start
        var prefixes = Prefixes()
        while position < code.count, position - start < 15 {
            let byte = code[position]
            switch byte {
            case 0x66: prefixes.hasOperandSize = true
            case 0x67: prefixes.hasAddressSize = true
            case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3: break
            default:
                let isREX = byte & 0xf0 == 0x40
                if isREX {
                    prefixes.isWide = byte & 8 != 0
                    position += 1
                }
                guard let end = rest(code, position, prefixes), end - start <= 15, end <= code.count else { return 0 }
                return end - start
            }
            position += 1
        }
        return 0
    }

    /// Where the instruction ends whose opcode is at `position`.
    private func rest(_ code: UnsafeRawBufferPointer, _ position: Int, _ prefixes: Prefixes) -> Int? {
        guard position + 3 < code.count else { return shortRest(code, position, prefixes) }
        switch code[position] {
        case 0x0f:
            switch code[position + 1] {
            case 0x38: return operands("M", code, position + 3, prefixes)
            case 0x3a: return operands("B", code, position + 3, prefixes)
            case let opcode: return operands(twoBytes[Int(opcode)], code, position + 2, prefixes)
            }
        case 0xc5: return operands(vector(1, code[position + 2]), code, position + 3, prefixes)
        case 0xc4:
            return operands(vector(code[position + 1] & 0x1f, code[position + 2 + 1]), code, position + 4, prefixes)
        case 0x62:
            guard position + 4 < code.count else { return nil }
            return operands(vector(code[position + 1] & 7, code[position + 4]), code, position + 5, prefixes)
        case let opcode: return operands(oneByte[Int(opcode)], code, position + 1, prefixes)
        }
    }

    /// The same for the last bytes of `code`, of which there are fewer than four.
    private func shortRest(_ code: UnsafeRawBufferPointer, _ position: Int, _ prefixes: Prefixes) -> Int? {
        guard position < code.count else { return nil }
        let opcode = code[position]
        if opcode != 0x0f && opcode != 0xc5 { return operands(oneByte[Int(opcode)], code, position + 1, prefixes) }
        guard position + 1 < code.count else { return nil }
        if opcode == 0xc5 {
            guard position + 2 < code.count else { return nil }
            return operands(vector(1, code[position + 2]), code, position + 3, prefixes)
        }
        return operands(twoBytes[Int(code[position + 1])], code, position + 2, prefixes)
    }

    /// What follows an opcode of a vector instruction, whose prefix names the map.
    private func vector(_ map: UInt8, _ opcode: UInt8) -> UInt8 {
        switch map {
        case 1: twoBytes[Int(opcode)] == UInt8(ascii: "j") ? UInt8(ascii: "X") : twoBytes[Int(opcode)]
        case 2, 5, 6: UInt8(ascii: "M")
        case 3: UInt8(ascii: "B")
        default: UInt8(ascii: "X")
        }
    }

    private func operands(
        _ kind: UInt8, _ code: UnsafeRawBufferPointer, _ position: Int, _ prefixes: Prefixes
    ) -> Int? {
        let double = prefixes.hasOperandSize && !prefixes.isWide ? 2 : 4
        switch kind {
        case UInt8(ascii: "N"): return position
        case UInt8(ascii: "b"): return position + 1
        case UInt8(ascii: "w"): return position + 2
        case UInt8(ascii: "e"): return position + 3
        case UInt8(ascii: "j"): return position + 4
        case UInt8(ascii: "d"): return position + double
        case UInt8(ascii: "q"): return position + (prefixes.isWide ? 8 : double)
        case UInt8(ascii: "a"): return position + (prefixes.hasAddressSize ? 4 : 8)
        case UInt8(ascii: "X"): return nil
        default:
            guard position < code.count, let end = memoryOperand(code, position) else { return nil }
            let isTest = code[position] >> 3 & 7 < 2
            switch kind {
            case UInt8(ascii: "B"): return end + 1
            case UInt8(ascii: "D"): return end + double
            case UInt8(ascii: "t"): return end + (isTest ? 1 : 0)
            case UInt8(ascii: "u"): return end + (isTest ? double : 0)
            default: return end
            }
        }
    }

    private func operands(
        _ kind: Unicode.Scalar, _ code: UnsafeRawBufferPointer, _ position: Int, _ prefixes: Prefixes
    ) -> Int? { operands(UInt8(ascii: kind), code, position, prefixes) }

    /// Behind the byte ModRM at `position`, its SIB and its displacement.
    private func memoryOperand(_ code: UnsafeRawBufferPointer, _ position: Int) -> Int? {
        let mode = code[position] >> 6, register = code[position] & 7
        if mode == 3 { return position + 1 }
        var end = position + 1
        var base = register
        if register == 4 {
            guard end < code.count else { return nil }
            base = code[end] & 7
            end += 1
        }
        switch mode {
        case 1: return end + 1
        case 2: return end + 4
        default: return base == 5 ? end + 4 : end
        }
    }
}
