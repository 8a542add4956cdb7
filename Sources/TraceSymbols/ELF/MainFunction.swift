internal import CElfutils

/// Where a program begins that is not position-independent.
public enum MainFunction {
    /// The address of `main` in memory; nil where that is not the same in each run, or the program is stripped.
    ///
    /// - Complexity: O(symbols).
    public static func fixedAddress(in path: String) -> UInt64? {
        guard let file = try? ELFFile(path: path), file.header.e_type == UInt16(ET_EXEC),
            let section = file.section(type: SHT_SYMTAB), let data = section.data
        else { return nil }
        let count = Int(section.header.sh_size / max(1, section.header.sh_entsize))
        var symbol = GElf_Sym()
        for number in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(number), &symbol) != nil {
            guard symbol.st_info & 15 == UInt8(STT_FUNC), symbol.st_value != 0,
                let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name)),
                String(cString: name) == "main"
            else { continue }
            return symbol.st_value
        }
        return nil
    }
}
