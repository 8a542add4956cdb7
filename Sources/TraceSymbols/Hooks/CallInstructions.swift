internal import CElfutils

/// What the machine code of a function calls or jumps to.
struct CallInstructions {
    /// Addresses that instructions name. On x86-64 any byte may be taken for an instruction, so a target counts only
    /// where a function starts.
    var targets: [UInt64] { branches.map(\.target) }
    /// The same, with the address of each instruction.
    private(set) var branches: [(at: UInt64, target: UInt64)] = []
    /// How many calls and jumps go to an address in a register or in memory.
    private(set) var indirectCount = 0

    /// Looks through `extent`. O(size).
    init(in extent: Range<UInt64>, of file: borrowing ELFFile) {
        for segment in file.segments where segment.p_type == UInt32(PT_LOAD) {
            let start = extent.lowerBound &- segment.p_vaddr
            guard extent.lowerBound >= segment.p_vaddr, start < segment.p_filesz else { continue }
            let size = min(UInt64(extent.count), segment.p_filesz - start)
            guard let offset = Int64(exactly: segment.p_offset &+ start),
                let data = elf_getdata_rawchunk(file.handle, offset, Int(size), ELF_T_BYTE),
                let bytes = data.pointee.d_buf
            else { return }
            let code = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size)
            read(code, at: extent.lowerBound, isARM: file.isARM)
            return
        }
    }

    /// - Parameter isARM: whether `code` is for aarch64; otherwise it is for x86-64.
    init(_ code: UnsafeRawBufferPointer, at address: UInt64, isARM: Bool) {
        read(code, at: address, isARM: isARM)
    }

    private mutating func read(_ code: UnsafeRawBufferPointer, at address: UInt64, isARM: Bool) {
        if isARM { readARM(code, at: address) } else { readX86(code, at: address) }
    }

    /// E8 and E9 are call and jmp with a displacement of 32 bits from the next instruction, 0F 80 to 0F 8F are jumps on a
    /// condition. FF /2 and FF /4 are indirect.
    private mutating func readX86(_ code: UnsafeRawBufferPointer, at address: UInt64) {
        for index in code.indices.dropLast() {
            let isConditional = code[index] == 0x0f && code[index + 1] & 0xf0 == 0x80
            let opcode = isConditional ? 2 : 1
            if isConditional || code[index] & 0xfe == 0xe8, index + opcode + 4 <= code.count {
                let offset = code.loadUnaligned(fromByteOffset: index + opcode, as: Int32.self)
                let next = address &+ UInt64(index + opcode + 4)
                let target = next &+ UInt64(bitPattern: Int64(Int32(littleEndian: offset)))
                branches.append((address &+ UInt64(index), target))
            } else if code[index] == 0xff, [2, 4].contains(code[index + 1] >> 3 & 7) {
                indirectCount += 1
            }
        }
    }

    /// B and BL have a displacement of 26 bits, in instructions. BR and BLR are indirect.
    private mutating func readARM(_ code: UnsafeRawBufferPointer, at address: UInt64) {
        for index in stride(from: 0, to: code.count / 4 * 4, by: 4) {
            let word = UInt32(littleEndian: code.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            if word & 0x7c00_0000 == 0x1400_0000 {
                let displacement = Int64(Int32(bitPattern: word << 6) >> 4)
                let place = address &+ UInt64(index)
                branches.append((place, place &+ UInt64(bitPattern: displacement)))
            } else if word & 0xffdf_fc1f == 0xd61f_0000 {
                indirectCount += 1
            }
        }
    }
}
