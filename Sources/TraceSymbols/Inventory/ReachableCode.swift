internal import CElfutils
internal import Glibc

/// What code of a file can be running when one of some functions has been called, whatever the compiler has put where: those
/// functions, and what they call or jump to. It needs no symbols of other functions than those.
public struct ReachableCode: Sendable {
    /// Addresses in the file, in ascending order.
    public let ranges: [Range<UInt64>]

    /// - Parameters:
    ///   - path: of an executable or library.
    ///   - names: linkage names for which it holds.
    /// - Returns: Nil when the file does not say where its functions begin.
    /// - Complexity: O(functions + size of the code that is found).
    public init?(path: String, fromFunctions isWanted: (UnsafePointer<CChar>) -> Bool) {
        guard let file = try? ELFFile(path: path) else { return nil }
        let starts = Self.functionStarts(file)
        let ends = file.executableBytes.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
        guard !starts.isEmpty, !ends.isEmpty else { return nil }
        let known = Set(starts), jumps = Self.jumps(file)
        var waiting = Self.functions(file, isWanted), found: [UInt64: Range<UInt64>] = [:]
        while let address = waiting.popLast() {
            let next = starts.partitioningIndex { $0 > address }
            guard next > 0, let section = ends.first(where: { $0.contains(address) }) else { continue }
            let start = max(starts[next - 1], section.lowerBound)
            guard found[start] == nil else { continue }
            let end = next < starts.count ? min(starts[next], section.upperBound) : section.upperBound
            found[start] = start..<end
            for target in CallInstructions(in: start..<end, of: file).targets {
                if known.contains(target) {
                    waiting.append(target)
                } else if let function = jumps[target] {
                    waiting.append(function)
                }
            }
        }
        ranges = found.values.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// O(log n).
    public func contains(_ address: UInt64) -> Bool {
        let next = ranges.partitioningIndex { $0.lowerBound > address }
        return next > 0 && ranges[next - 1].contains(address)
    }

    private static func functions(_ file: borrowing ELFFile, _ isWanted: (UnsafePointer<CChar>) -> Bool) -> [UInt64] {
        var found: Set<UInt64> = []
        for type in [SHT_SYMTAB, SHT_DYNSYM] {
            guard let section = file.section(type: type), let data = section.data else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
            var symbol = GElf_Sym()
            for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
                guard symbol.st_info & 0xf == UInt8(STT_FUNC) || symbol.st_info & 0xf == UInt8(STT_GNU_IFUNC),
                    symbol.st_shndx != UInt16(SHN_UNDEF),
                    let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name)), isWanted(name)
                else { continue }
                found.insert(symbol.st_value)
            }
        }
        return Array(found)
    }

    /// Where functions begin: by the table for unwinding, which stripping leaves alone (.eh_frame_hdr, Linux Standard Base),
    /// and by the symbols.
    private static func functionStarts(_ file: borrowing ELFFile) -> [UInt64] {
        var starts = Set(functions(file) { _ in true })
        if let section = file.section(named: ".eh_frame_hdr"), let data = section.data, data.pointee.d_size >= 12 {
            let bytes = UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
            // The address of what it sorts, and the number of entries, of four bytes each; the entries are offsets from here.
            if bytes[0] == 1, bytes[1] & 0xf == 0xb, bytes[2] == 3, bytes[3] == 0x3b {
                let count = Int(bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                for entry in stride(from: 12, to: min(12 + count * 8, bytes.count - 7), by: 8) {
                    let offset = Int64(bytes.loadUnaligned(fromByteOffset: entry, as: Int32.self))
                    starts.insert(section.header.sh_addr &+ UInt64(bitPattern: offset))
                }
            }
        }
        return starts.sorted()
    }

    /// Code that only jumps to a function of this file through a slot that the dynamic linker fills: with that function.
    private static func jumps(_ file: borrowing ELFFile) -> [UInt64: UInt64] {
        var slots: [UInt64: UInt64] = [:], found: [UInt64: UInt64] = [:]
        guard let symbols = file.section(type: SHT_DYNSYM), let table = symbols.data,
            file.header.e_machine == UInt16(EM_X86_64)
        else { return [:] }
        var section: OpaquePointer?
        while let next = elf_nextscn(file.handle, section) {
            section = next
            var header = GElf_Shdr(), entry = GElf_Rela(), symbol = GElf_Sym()
            guard gelf_getshdr(next, &header) != nil, header.sh_type == UInt32(SHT_RELA),
                let data = elf_getdata(next, nil)
            else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_RELA, 1, UInt32(EV_CURRENT)))
            for index in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(index), &entry) != nil {
                guard gelf_getsym(table, Int32(truncatingIfNeeded: entry.r_info >> 32), &symbol) != nil,
                    symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_value != 0
                else { continue }
                slots[entry.r_offset] = symbol.st_value
            }
        }
        if slots.isEmpty { return [:] }
        for (range, bytes) in file.executableBytes where range.count < 1 << 20 {
            bytes.withUnsafeBytes { bytes in
                for at in 0..<max(0, bytes.count - 5) where bytes[at] == 0xff && bytes[at + 1] == 0x25 {
                    let distance = Int64(bytes.loadUnaligned(fromByteOffset: at + 2, as: Int32.self))
                    let address = range.lowerBound &+ UInt64(at)
                    guard let function = slots[address &+ 6 &+ UInt64(bitPattern: distance)] else { continue }
                    // Alone, or behind a prefix, and behind `endbr64`.
                    for before in [0, 1, 4, 5] as [UInt64] { found[address &- before] = function }
                }
            }
        }
        return found
    }
}
