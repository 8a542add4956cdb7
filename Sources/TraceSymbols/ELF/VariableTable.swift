internal import CElfutils
internal import Glibc

/// The variables of one symbol table that have a place of their own, by address.
struct VariableTable {
    private struct Entry {
        var start: UInt64
        var end: UInt64
        var name: String
    }

    private var entries: [Entry] = []

    /// Reads `.symtab`, or `.dynsym` where there is none.
    ///
    /// - Complexity: O(n log n) in the table's symbols.
    init(_ file: borrowing ELFFile) {
        for type in [SHT_SYMTAB, SHT_DYNSYM] where entries.isEmpty { read(file, type: type) }
        entries.sort { ($0.start, $1.end, $0.name) < ($1.start, $0.end, $1.name) }
    }

    private mutating func read(_ file: borrowing ELFFile, type: Int32) {
        guard let section = file.section(type: type), let data = section.data,
            let strings = file.section(index: Int(section.header.sh_link))?.data,
            case let entrySize = gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)), entrySize > 0
        else { return }
        let names = UnsafeRawBufferPointer(start: strings.pointee.d_buf, count: strings.pointee.d_size)
        var symbol = GElf_Sym()
        for index in 0..<min(data.pointee.d_size / entrySize, Int(Int32.max))
        where gelf_getsym(data, Int32(index), &symbol) != nil {
            let (end, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
            guard symbol.st_info & 0xf == UInt8(STT_OBJECT), symbol.st_shndx != UInt16(SHN_UNDEF),
                symbol.st_size > 0, !overflow, Int(symbol.st_name) < names.count
            else { continue }
            let name = String(decoding: names[Int(symbol.st_name)...].prefix { $0 != 0 }, as: UTF8.self)
            if !name.isEmpty { entries.append(Entry(start: symbol.st_value, end: end, name: name)) }
        }
    }

    /// Finds the innermost variable around `address`, and how far into it that is. O(log n).
    func lookup(_ address: UInt64) -> (linkageName: String, offset: UInt64)? {
        let index = entries.partitioningIndex { $0.start > address } - 1
        guard index >= 0, address < entries[index].end else { return nil }
        return (entries[index].name, address - entries[index].start)
    }
}
