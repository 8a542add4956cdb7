/// Instructions that put an address into a register, with the address.
///
/// On x86-64 any byte may be taken for an instruction, so an address counts only where a function starts.
struct AddressLoads {
    private(set) var loads: [(at: UInt64, target: UInt64)] = []

    /// - Parameters:
    ///   - address: of the first byte of `code`.
    ///   - isARM: whether `code` is for aarch64; otherwise it is for x86-64.
    ///   - isFixed: whether the program is loaded where it was linked for, so that code may hold addresses as they are.
    init(_ code: Slice<UnsafeRawBufferPointer>, at address: UInt64, isARM: Bool, isFixed: Bool) {
        let bytes = UnsafeRawBufferPointer(rebasing: code)
        if isARM { readARM(bytes, at: address) } else { readX86(bytes, at: address, isFixed: isFixed) }
    }

    /// `lea displacement(%rip),register`; and `mov $address,register` with 32 bits, sign-extended or not.
    private mutating func readX86(_ code: UnsafeRawBufferPointer, at address: UInt64, isFixed: Bool) {
        for index in 0..<max(0, code.count - 6) {
            let byte = code[index]
            if byte == 0x48 || byte == 0x4c, code[index + 1] == 0x8d, code[index + 2] & 0xc7 == 0x05 {
                let displacement = Int32(littleEndian: code.loadUnaligned(fromByteOffset: index + 3, as: Int32.self))
                let target = address &+ UInt64(index + 7) &+ UInt64(bitPattern: Int64(displacement))
                loads.append((address &+ UInt64(index), target))
            } else if isFixed, byte & 0xf8 == 0xb8 || (byte == 0xc7 && code[index + 1] & 0xf8 == 0xc0) {
                let offset = byte == 0xc7 ? index + 2 : index + 1
                let target = UInt32(littleEndian: code.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                loads.append((address &+ UInt64(index), UInt64(target)))
            }
        }
    }

    /// `adrp register, page; add register, register, #offset`, with up to three instructions in between.
    private mutating func readARM(_ code: UnsafeRawBufferPointer, at address: UInt64) {
        func word(_ index: Int) -> UInt32 {
            UInt32(littleEndian: code.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        }
        for index in stride(from: 0, to: code.count / 4 * 4, by: 4) where word(index) & 0x9f00_0000 == 0x9000_0000 {
            let (page, place) = (word(index), address &+ UInt64(index))
            let pages = Int32(bitPattern: (page >> 5 & 0x7ffff) << 13) >> 11 | Int32(page >> 29 & 3)
            let base = (place & ~0xfff) &+ UInt64(bitPattern: Int64(pages) << 12)
            for next in stride(from: index + 4, to: min(index + 20, code.count / 4 * 4), by: 4) {
                let add = word(next)
                guard add & 0xffc0_0000 == 0x9100_0000, add >> 5 & 31 == page & 31 else { continue }
                loads.append((place, base &+ UInt64(add >> 10 & 0xfff)))
                break
            }
        }
    }
}
