internal import CElfutils

/// The addresses that a file's data holds when it is loaded, and where.
struct DataReferences {
    private(set) var references: [(at: UInt64, target: UInt64)] = []

    /// Reads relocations (System V ABI; `SHT_RELR` by the generic ABI's proposal). A program that is loaded where it was
    /// linked for has none for its own functions, so each aligned word of its data counts.
    init(_ file: borrowing ELFFile) {
        var section: OpaquePointer?
        while let next = elf_nextscn(file.handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_flags & UInt64(SHF_ALLOC) != 0 else { continue }
            switch header.sh_type {
            case UInt32(SHT_RELA): readAddends(file, next, header)
            case DataReferences.packed: readPacked(file, next)
            case UInt32(SHT_PROGBITS), UInt32(SHT_INIT_ARRAY), UInt32(SHT_FINI_ARRAY), UInt32(SHT_PREINIT_ARRAY):
                guard file.header.e_type == UInt16(ET_EXEC), header.sh_flags & UInt64(SHF_EXECINSTR) == 0 else { break }
                readWords(next, header)
            default: break
            }
        }
    }

    private static let packed: UInt32 = 19  // SHT_RELR

    private mutating func readAddends(_ file: borrowing ELFFile, _ section: OpaquePointer, _ header: GElf_Shdr) {
        guard let data = elf_getdata(section, nil) else { return }
        let symbols = file.section(index: Int(header.sh_link))?.data
        let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_RELA, 1, UInt32(EV_CURRENT)))
        var entry = GElf_Rela()
        var symbol = GElf_Sym()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(index), &entry) != nil {
            let number = Int32(truncatingIfNeeded: entry.r_info >> 32)
            var base: UInt64 = 0
            if number != 0 {
                guard let symbols, gelf_getsym(symbols, number, &symbol) != nil,
                    symbol.st_shndx != UInt16(SHN_UNDEF)
                else { continue }
                base = symbol.st_value
            }
            references.append((entry.r_offset, base &+ UInt64(bitPattern: entry.r_addend)))
        }
    }

    /// An even word is the place of an address; an odd one has a bit for each of the 63 words behind the last place.
    private mutating func readPacked(_ file: borrowing ELFFile, _ section: OpaquePointer) {
        guard let data = elf_rawdata(section, nil), let bytes = data.pointee.d_buf else { return }
        let words = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size / 8 * 8)
        var next: UInt64 = 0
        for offset in stride(from: 0, to: words.count, by: 8) {
            let word = UInt64(littleEndian: words.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if word & 1 == 0 {
                append(wordAt: word, file)
                next = word &+ 8
            } else {
                for bit in 1..<64 where word >> UInt64(bit) & 1 != 0 {
                    append(wordAt: next &+ UInt64(bit - 1) * 8, file)
                }
                next &+= 63 * 8
            }
        }
    }

    /// The addend stands in the place itself.
    private mutating func append(wordAt place: UInt64, _ file: borrowing ELFFile) {
        for segment in file.segments where segment.p_type == UInt32(PT_LOAD) {
            let offset = place &- segment.p_vaddr
            guard place >= segment.p_vaddr, offset < segment.p_filesz, segment.p_filesz - offset >= 8,
                let start = Int64(exactly: segment.p_offset), let size = Int(exactly: segment.p_filesz),
                let data = elf_getdata_rawchunk(file.handle, start, size, ELF_T_BYTE),
                let bytes = data.pointee.d_buf
            else { continue }
            let word = bytes.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
            references.append((place, UInt64(littleEndian: word)))
            return
        }
    }

    private mutating func readWords(_ section: OpaquePointer, _ header: GElf_Shdr) {
        guard let data = elf_rawdata(section, nil), let bytes = data.pointee.d_buf else { return }
        let content = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size / 8 * 8)
        for offset in stride(from: 0, to: content.count, by: 8) {
            let word = UInt64(littleEndian: content.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            references.append((header.sh_addr &+ UInt64(offset), word))
        }
    }
}
