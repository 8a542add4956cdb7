internal import CElfutils

extension ELFFile {
    /// Where code goes on in a function that a resolver chooses when the module is loaded (STT_GNU_IFUNC), by the resolvers'
    /// addresses: entries of the procedure linkage table, each with its size. Such an entry is the function's address for its
    /// module, so hooks report it. gcc makes such functions of those with clones for several processors (`target_clones`).
    ///
    /// - Complexity: O(relocations + bytes of the linkage tables). Empty on other machines than x86-64.
    var chosenFunctions: [UInt64: [Range<UInt64>]] {
        guard header.e_machine == UInt16(EM_X86_64) else { return [:] }
        let resolvers = resolversBySlot
        guard !resolvers.isEmpty else { return [:] }
        var found: [UInt64: [Range<UInt64>]] = [:]
        for name in [".plt", ".plt.sec", ".plt.got", ".iplt"] {
            guard let section = section(named: name), let data = section.data, let start = data.pointee.d_buf else {
                continue
            }
            let code = UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
            for offset in 0..<max(0, code.count - 5) where code[offset] == 0xff && code[offset + 1] == 0x25 {
                let displacement = Int32(littleEndian: code.loadUnaligned(fromByteOffset: offset + 2, as: Int32.self))
                let end = section.header.sh_addr &+ UInt64(offset) &+ 6
                guard let resolver = resolvers[end &+ UInt64(bitPattern: Int64(displacement))] else { continue }
                // `endbr64` and `bnd` may stand before the jump.
                var size: UInt64 = 6
                if offset > 0, code[offset - 1] == 0xf2 { size += 1 }
                let first = offset + 6 - Int(size)
                if first >= 4, code[first - 4..<first].elementsEqual([0xf3, 0x0f, 0x1e, 0xfa]) { size += 4 }
                found[resolver, default: []].append(end &- size..<end)
            }
        }
        return found
    }

    /// Where the versions begin that a resolver chooses from of each of these functions, with the functions' addresses in
    /// ``chosenFunctions``. gcc names them after the function, with what they are for behind a dot. O(n) in the symbols.
    func versions(of functions: Set<UInt64>) -> [UInt64: [UInt64]] {
        var places: [String: [UInt64]] = [:]
        let chosen = chosenFunctions
        guard chosen.values.contains(where: { $0.contains { functions.contains($0.lowerBound) } }) else { return [:] }
        forEachFunction { symbol, name in
            guard Int32(symbol.st_info & 0xf) == STT_GNU_IFUNC else { return }
            let wanted = (chosen[symbol.st_value] ?? []).map(\.lowerBound).filter(functions.contains)
            if !wanted.isEmpty { places[HookedFunctions.withoutVersion(name)] = wanted }
        }
        var found: [UInt64: [UInt64]] = [:]
        forEachFunction { symbol, name in
            guard Int32(symbol.st_info & 0xf) == STT_FUNC, let places = places[HookedFunctions.withoutVersion(name)]
            else {
                return
            }
            found[symbol.st_value] = places
        }
        return found
    }

    /// Which resolver fills in which slot of the global offset table.
    private var resolversBySlot: [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:], index = 1
        while let section = section(index: index) {
            index += 1
            guard section.header.sh_type == UInt32(SHT_RELA), section.header.sh_flags & UInt64(SHF_ALLOC) != 0,
                let data = section.data
            else { continue }
            let count = Int(section.header.sh_size / max(1, section.header.sh_entsize))
            var entry = GElf_Rela()
            for number in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(number), &entry) != nil {
                guard Int32(truncatingIfNeeded: entry.r_info) == R_X86_64_IRELATIVE else { continue }
                found[entry.r_offset] = UInt64(bitPattern: Int64(entry.r_addend))
            }
        }
        return found
    }
}
