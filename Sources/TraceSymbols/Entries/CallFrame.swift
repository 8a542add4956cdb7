internal import TraceText

/// Where the table for unwinding says that a frame and its return address are, at the first instruction that an entry is for (DWARF
/// 5, 6.4.2; numbers of registers are those of the System V ABI for x86-64, and of DWARF for the Arm 64-bit Architecture).
struct CallFrame {
    let dataAlignment: Int64
    private let stackPointer: UInt64
    private let returns: UInt64
    /// Where a call puts the return address, from the frame's address on; nil: it stays in its register.
    private let returnAddressOfCall: Int64?
    /// The frame's address: a register, and what is added to it; nil where an expression tells.
    private var address: (register: UInt64, offset: Int64)?
    /// Where the return address is, from the frame's address on; nil where something else tells.
    private var returnAddress: Int64?

    /// - Parameter isARM: whether it is of aarch64; otherwise it is of x86-64.
    init(dataAlignment: Int64, isARM: Bool) {
        self.dataAlignment = dataAlignment
        (stackPointer, returns, returnAddressOfCall) = isARM ? (31, 30, nil) : (7, 16, -8)
    }

    /// Whether the return address is where a call has put it.
    var isOfCall: Bool {
        guard let address else { return false }
        return address.register == stackPointer && address.offset == -(returnAddressOfCall ?? 0)
            && returnAddress == returnAddressOfCall
    }

    /// How far the frame's address is from the stack pointer after the next instructions, which hold until the place moves on once
    /// more; nil: the stack pointer does not tell.
    func next(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int64? {
        var frame = self
        _ = frame.follow(bytes, range)
        return frame.address.flatMap { $0.register == stackPointer ? $0.offset : nil }
    }

    /// Follows instructions until the place for which they hold moves on. What is not known spoils the frame.
    ///
    /// - Returns: where the rest of them begins, and by how many bytes the place moves; nil: there are no more.
    mutating func follow(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> (at: Int, behind: Int)? {
        guard !range.isEmpty else { return nil }
        var reader = LEB128Reader(UnsafeRawBufferPointer(rebasing: bytes[range]))
        func signed() -> Int64 {
            let start = reader.offset, value = reader.take(), bits = 7 * UInt64(reader.offset - start)
            let isNegative = bits < 64 && bits > 0 && value >> (bits - 1) & 1 == 1
            return Int64(bitPattern: isNegative ? value | ~0 << bits : value)
        }
        func at(_ offset: Int64, _ register: UInt64) {
            if register == returns { returnAddress = offset &* dataAlignment }
        }
        while !reader.isAtEnd, !reader.hasFailed {
            let operation = reader.take(1).first ?? 0
            switch operation >> 6 {
            case 1: return (range.lowerBound + reader.offset, Int(operation & 63))  // DW_CFA_advance_loc
            case 2: at(Int64(bitPattern: reader.take()), UInt64(operation & 63))  // DW_CFA_offset
            case 3: if UInt64(operation & 63) == returns { returnAddress = nil }  // DW_CFA_restore
            default:
                switch operation {
                case 0x00, 0x0a, 0x0b: break  // nop, remember_state, restore_state
                case 0x02:  // advance_loc1
                    let behind = Int(reader.take(1).first ?? 0)
                    return (range.lowerBound + reader.offset, behind)
                case 0x01, 0x03, 0x04: return nil  // set_loc, advance_loc2, 4: far away
                case 0x05:  // offset_extended
                    let register = reader.take()
                    at(Int64(bitPattern: reader.take()), register)
                case 0x0c:  // def_cfa
                    let register = reader.take()
                    address = (register, Int64(bitPattern: reader.take()))
                case 0x0d:  // def_cfa_register
                    let register = reader.take()
                    address?.register = register
                case 0x0e:  // def_cfa_offset
                    let offset = Int64(bitPattern: reader.take())
                    address?.offset = offset
                case 0x11:  // offset_extended_sf
                    let register = reader.take()
                    at(signed(), register)
                case 0x12:  // def_cfa_sf
                    let register = reader.take()
                    address = (register, signed() &* dataAlignment)
                case 0x13:  // def_cfa_offset_sf
                    let offset = signed() &* dataAlignment
                    address?.offset = offset
                case 0x08: if reader.take() == returns { returnAddress = nil }  // same_value
                case 0x2e: _ = reader.take()  // GNU_args_size
                default:
                    (address, returnAddress) = (nil, nil)
                    return nil
                }
            }
        }
        return nil
    }
}
