internal import CElfutils
internal import Glibc

/// Where a file's code calls a hook.
struct HookCalls {
    private(set) var addresses: [UInt64] = []
    /// Where each of them returns to, in the same order.
    private(set) var returns: [UInt64] = []
    /// Slots of the global offset table that hold a hook's address.
    private var slots: Set<UInt64> = []
    /// The addresses that a call of a hook goes to: the hook itself, or code that jumps there through a slot.
    private var targets: Set<UInt64>
    /// Code that jumps to the hook, up to where it reads the slot.
    private(set) var stubs: Set<UInt64> = []

    /// - Parameters:
    ///   - hooks: the names of the hooks.
    ///   - definitions: where the file itself defines them.
    init(_ file: borrowing ELFFile, of hooks: [String], definitions: Set<UInt64>) {
        targets = definitions
        findSlots(file, hooks)
        let isX86 = file.header.e_machine == UInt16(EM_X86_64)
        guard isX86 || file.isARM, !targets.isEmpty || !slots.isEmpty else { return }
        let code = code(file)
        for section in code { isX86 ? findStubsX86(section) : findStubsArm(section) }
        targets.formUnion(stubs)
        for section in code { isX86 ? findCallsX86(section) : findCallsArm(section) }
    }

    private mutating func append(_ address: UInt64, size: UInt64) {
        addresses.append(address)
        returns.append(address + size)
    }

    private mutating func findSlots(_ file: borrowing ELFFile, _ hooks: [String]) {
        let handle = file.handle
        guard let symbols = file.section(type: SHT_DYNSYM), let table = symbols.data else { return }
        let link = Int(symbols.header.sh_link)
        var section: OpaquePointer?
        while let next = elf_nextscn(handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_type == UInt32(SHT_RELA),
                let data = elf_getdata(next, nil)
            else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_RELA, 1, UInt32(EV_CURRENT)))
            var entry = GElf_Rela()
            var symbol = GElf_Sym()
            for index in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(index), &entry) != nil {
                guard gelf_getsym(table, Int32(truncatingIfNeeded: entry.r_info >> 32), &symbol) != nil,
                    let name = elf_strptr(handle, link, Int(symbol.st_name)), HookedFunctions.isAny(name, of: hooks)
                else { continue }
                slots.insert(entry.r_offset)
            }
        }
    }

    private struct Code {
        var bytes: UnsafeRawBufferPointer
        var address: UInt64

        func word(at offset: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }

        /// The address that a 32-bit displacement at `offset`, which ends its instruction, points to.
        func displaced(at offset: Int) -> UInt64 {
            address &+ UInt64(offset + 4) &+ UInt64(bitPattern: Int64(Int32(bitPattern: word(at: offset))))
        }
    }

    /// The sections that hold instructions; they live as long as the file is open.
    private func code(_ file: borrowing ELFFile) -> [Code] {
        var found: [Code] = []
        var section: OpaquePointer?
        while let next = elf_nextscn(file.handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_flags & UInt64(SHF_EXECINSTR) != 0,
                header.sh_type != UInt32(SHT_NOBITS), let data = elf_getdata(next, nil), let bytes = data.pointee.d_buf
            else { continue }
            let content = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size)
            found.append(Code(bytes: content, address: header.sh_addr))
        }
        return found
    }

    // MARK: x86-64

    /// `jmp *slot(%rip)`, alone or behind `endbr64` and with the `bnd` prefix; or `mov slot(%rip),%rax` in the hook of a
    /// shared library.
    private mutating func findStubsX86(_ code: Code) {
        for offset in 0..<max(0, code.bytes.count - 6) {
            let address = code.address + UInt64(offset)
            switch code.bytes[offset] {
            case 0xff where code.bytes[offset + 1] == 0x25 && slots.contains(code.displaced(at: offset + 2)):
                for before in [0, 1, 4, 5] as [UInt64] { stubs.insert(address &- before) }
            case 0x48
            where code.bytes[offset + 1] == 0x8b && code.bytes[offset + 2] == 0x05
                && slots.contains(code.displaced(at: offset + 3)):
                for before in [0, 4] as [UInt64] { stubs.insert(address &- before) }
            default: break
            }
        }
    }

    /// `call target` and, without a procedure linkage table, `call *slot(%rip)`.
    private mutating func findCallsX86(_ code: Code) {
        for offset in 0..<max(0, code.bytes.count - 5) {
            switch code.bytes[offset] {
            case 0xe8 where code.bytes.count - offset >= 5 && targets.contains(code.displaced(at: offset + 1)):
                append(code.address + UInt64(offset), size: 5)
            case 0xff where code.bytes[offset + 1] == 0x15 && slots.contains(code.displaced(at: offset + 2)):
                append(code.address + UInt64(offset), size: 6)
            default: break
            }
        }
    }

    // MARK: aarch64

    /// `adrp x16, page; ldr x17, [x16, #offset]`
    private mutating func findStubsArm(_ code: Code) {
        for offset in stride(from: 0, to: code.bytes.count - 7, by: 4) {
            let (page, load) = (code.word(at: offset), code.word(at: offset + 4))
            guard page & 0x9f00_001f == 0x9000_0010, load & 0xffc0_03ff == 0xf940_0211 else { continue }
            let address = code.address + UInt64(offset)
            let pages = Int32(bitPattern: (page >> 5 & 0x7ffff) << 13) >> 11 | Int32(page >> 29 & 3)
            let base = (address & ~0xfff) &+ UInt64(bitPattern: Int64(pages) << 12)
            if slots.contains(base &+ UInt64(load >> 10 & 0xfff) * 8) {
                targets.insert(address)
                targets.insert(address &- 4)  // behind `bti c`
            }
        }
    }

    /// `bl target`
    private mutating func findCallsArm(_ code: Code) {
        for offset in stride(from: 0, to: code.bytes.count - 3, by: 4) {
            let word = code.word(at: offset)
            guard word & 0xfc00_0000 == 0x9400_0000 else { continue }
            let distance = Int64(Int32(bitPattern: word << 6) >> 4)
            let address = code.address + UInt64(offset)
            if targets.contains(address &+ UInt64(bitPattern: distance)) { append(address, size: 4) }
        }
    }
}
