internal import CElfutils
internal import Glibc

/// The functions of a file, by its symbols, those of its debug file or, where it is stripped, the table for unwinding as well.
struct EntrySymbols {
    /// By ascending address, one for each.
    let all: [EntrySymbol]
    /// Whether there are symbols only of those functions that other modules may call.
    let isStripped: Bool

    /// - Complexity: O(n log n) in the number of functions, and O(bytes of the table for unwinding).
    init(_ file: borrowing ELFFile) {
        var isStripped = file.section(type: SHT_SYMTAB) == nil
        var symbols: [EntrySymbol] = []
        if isStripped, let twin = DebugFile(roots: ["/usr/lib/debug"]).find(for: file),
            let other = try? ELFFile(path: twin), let section = other.section(type: SHT_SYMTAB)
        {
            isStripped = false
            symbols = EntrySymbol.all(of: section, in: other)
        } else if let section = file.section(type: isStripped ? SHT_DYNSYM : SHT_SYMTAB) {
            symbols = EntrySymbol.all(of: section, in: file)
        }
        self.isStripped = isStripped
        all = isStripped ? EntrySymbol.all(symbols, and: UnwindEntries(file).functions, in: file) : symbols
    }
}

/// A symbol of a function, by its addresses in the file.
struct EntrySymbol {
    var start: UInt64
    var end: UInt64
    /// nil where only the table for unwinding tells of the function.
    var name: String?

    /// By ascending address; of several that begin at one, the longest.
    fileprivate static func all(of section: ELFFile.Section, in file: borrowing ELFFile) -> [EntrySymbol] {
        guard let data = section.data else { return [] }
        let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbols: [EntrySymbol] = []
        // What chooses a function runs while a module is being relocated.
        var resolvers: Set<UInt64> = []
        var symbol = GElf_Sym()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
            if symbol.st_info & 0xf == UInt8(STT_GNU_IFUNC) { resolvers.insert(symbol.st_value) }
            let (end, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
            guard symbol.st_info & 0xf == UInt8(STT_FUNC), symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_size > 0,
                !overflow, let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name))
            else { continue }
            // Rare parts that the compiler moved away from their function are jumped to, and not called.
            if strstr(name, ".cold") != nil || HookedFunctions.isOfStartFiles(name) { continue }
            symbols.append(EntrySymbol(start: symbol.st_value, end: end, name: String(cString: name)))
        }
        symbols.sort { ($0.start, $1.end) < ($1.start, $0.end) }
        var last: UInt64?
        symbols.removeAll { symbol in
            defer { last = symbol.start }
            return symbol.start == last || resolvers.contains(symbol.start)
        }
        return symbols
    }
}

extension EntrySymbol {
    /// The functions of symbols, and those that are known only by where they are.
    fileprivate static func all(
        _ symbols: [EntrySymbol], and functions: [Range<UInt64>], in file: borrowing ELFFile
    ) -> [EntrySymbol] {
        var known = Set(symbols.map(\.start))
        known.formUnion(file.resolvers)
        // The start files' code that the kernel or the dynamic linker jumps to.
        known.insert(file.header.e_entry)
        let others = functions.filter { known.insert($0.lowerBound).inserted }
        return (symbols + others.map { EntrySymbol(start: $0.lowerBound, end: $0.upperBound) }).sorted {
            ($0.start, $1.end) < ($1.start, $0.end)
        }
    }
}

extension ELFFile {
    /// What chooses functions while the module is relocated: by its symbols, and by the relocations that call it.
    var resolvers: Set<UInt64> {
        var found: Set<UInt64> = []
        var section: OpaquePointer?
        while let next = elf_nextscn(handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, let data = elf_getdata(next, nil) else { continue }
            if header.sh_type == UInt32(SHT_RELA) {
                let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_RELA, 1, UInt32(EV_CURRENT)))
                var entry = GElf_Rela()
                for index in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(index), &entry) != nil {
                    if entry.r_info & 0xffff_ffff == UInt64(isARM ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE) {
                        found.insert(UInt64(bitPattern: Int64(entry.r_addend)))
                    }
                }
            } else if header.sh_type == UInt32(SHT_DYNSYM) {
                let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
                var symbol = GElf_Sym()
                for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
                    if symbol.st_info & 0xf == UInt8(STT_GNU_IFUNC) { found.insert(symbol.st_value) }
                }
            }
        }
        return found
    }

    /// What lies between modules, or runs where no function has been called.
    private static let withoutFunctions: Set<String> = [".plt", ".plt.got", ".plt.sec", ".iplt", ".init", ".fini"]

    /// The sections with functions.
    var functionSections: [(range: Range<UInt64>, bytes: [UInt8])] {
        var others: Set<UInt64> = []
        _ = section { name, header in
            if Self.withoutFunctions.contains(name) { others.insert(header.sh_addr) }
            return false
        }
        return executableBytes.filter { !others.contains($0.range.lowerBound) }
    }

    /// Whether the dynamic linker writes into code, and takes away the right to do so afterwards.
    var hasTextRelocations: Bool {
        guard let section = section(type: SHT_DYNAMIC), let data = section.data else { return false }
        let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_DYN, 1, UInt32(EV_CURRENT)))
        var entry = GElf_Dyn()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getdyn(data, Int32(index), &entry) != nil {
            if entry.d_tag == GElf_Sxword(DT_TEXTREL) { return true }
            if entry.d_tag == GElf_Sxword(DT_FLAGS), entry.d_un.d_val & UInt64(DF_TEXTREL) != 0 { return true }
        }
        return false
    }
}
