internal import CElfutils

/// What a module has the dynamic linker do: the addresses it fills in, and the names it looks up.
public struct DynamicLinkage: Sendable {
    /// The number of relocations of each kind.
    public enum Kind: Sendable, CaseIterable { case relative, symbol, call, indirect, copy, threadLocal, other }

    public private(set) var relocations: [Kind: UInt64] = [:]
    /// Names that it refers to and that others have to define.
    public private(set) var undefined: Set<String> = []
    /// Names that others may refer to.
    public private(set) var defined: Set<String> = []
    /// Names of the libraries that it needs, and its own.
    public let needed: [String]
    public let name: String?

    /// - Complexity: O(relocations + dynamic symbols).
    init(_ file: borrowing ELFFile) {
        let dynamic = DynamicSection(file)
        needed = dynamic.needed
        name = dynamic.name
        let machine = Int32(file.header.e_machine)
        var counts: [Kind: UInt64] = [:]
        var index = 1
        while let section = file.section(index: index) {
            index += 1
            guard section.header.sh_flags & UInt64(SHF_ALLOC) != 0 else { continue }
            if section.header.sh_type == UInt32(SHT_RELA), let data = section.data {
                let count = Int(section.header.sh_size / max(1, section.header.sh_entsize))
                var entry = GElf_Rela()
                for number in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(number), &entry) != nil {
                    counts[Self.kind(UInt32(truncatingIfNeeded: entry.r_info), machine), default: 0] += 1
                }
            } else if section.header.sh_type == Self.relr, let data = section.data {
                counts[.relative, default: 0] += Self.countRelative(data)
            }
        }
        relocations = counts
        readSymbols(file)
    }

    /// SHT_RELR, which older headers lack.
    private static let relr: UInt32 = 19

    /// An even word is an address, and stands for one relocation; an odd one has a bit for each of the next 63 words
    /// (https://sourceware.org/pipermail/libc-alpha/2021-October/131733.html).
    private static func countRelative(_ data: UnsafeMutablePointer<Elf_Data>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
        var count: UInt64 = 0
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            count += word & 1 == 0 ? 1 : UInt64((word >> 1).nonzeroBitCount)
        }
        return count
    }

    private static func kind(_ type: UInt32, _ machine: Int32) -> Kind {
        switch (machine, Int32(bitPattern: type)) {
        case (EM_X86_64, R_X86_64_RELATIVE), (EM_AARCH64, R_AARCH64_RELATIVE): .relative
        case (EM_X86_64, R_X86_64_GLOB_DAT), (EM_X86_64, R_X86_64_64), (EM_AARCH64, R_AARCH64_GLOB_DAT),
            (EM_AARCH64, R_AARCH64_ABS64):
            .symbol
        case (EM_X86_64, R_X86_64_JUMP_SLOT), (EM_AARCH64, R_AARCH64_JUMP_SLOT): .call
        case (EM_X86_64, R_X86_64_IRELATIVE), (EM_AARCH64, R_AARCH64_IRELATIVE): .indirect
        case (EM_X86_64, R_X86_64_COPY), (EM_AARCH64, R_AARCH64_COPY): .copy
        case (EM_X86_64, R_X86_64_DTPMOD64), (EM_X86_64, R_X86_64_DTPOFF64), (EM_X86_64, R_X86_64_TPOFF64),
            (EM_X86_64, R_X86_64_TLSDESC), (EM_AARCH64, 1028...1031):
            .threadLocal
        default: .other
        }
    }

    private mutating func readSymbols(_ file: borrowing ELFFile) {
        guard let section = file.section(type: SHT_DYNSYM), let data = section.data else { return }
        let count = Int(section.header.sh_size / max(1, section.header.sh_entsize))
        var symbol = GElf_Sym()
        for number in 1..<max(1, min(count, Int(Int32.max))) where gelf_getsym(data, Int32(number), &symbol) != nil {
            guard let pointer = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name)) else {
                continue
            }
            let name = String(cString: pointer)
            if symbol.st_shndx == UInt16(SHN_UNDEF) { undefined.insert(name) } else { defined.insert(name) }
        }
    }
}

extension ModuleSymbols {
    /// What the module has the dynamic linker do; nil when its file is not there, or is another one.
    public var dynamicLinkage: DynamicLinkage? {
        guard let file = try? openModule() else { return nil }
        return DynamicLinkage(file)
    }
}
