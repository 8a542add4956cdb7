internal import CElfutils
internal import Glibc

/// Who may call each function of a file, by its symbols, its data and its code.
struct FunctionReferences {
    /// By the address of the function's first byte; functions that only direct calls lead to have none.
    private(set) var uses: [UInt64: FunctionUses] = [:]

    /// - Parameter functions: the addresses of all functions, in ascending order.
    /// - Complexity: O(bytes of code and data + n log n in the number of functions).
    init(_ file: borrowing ELFFile, _ functions: [Range<UInt64>]) {
        let starts = Set(functions.map(\.lowerBound))
        let (exported, tables) = FunctionReferences.symbols(file)
        for address in exported where starts.contains(address) { uses[address, default: []].insert(.exported) }
        for reference in DataReferences(file).references where starts.contains(reference.target) {
            let isVirtual = FunctionReferences.range(tables, holding: reference.at) != nil
            uses[reference.target, default: []].insert(isVirtual ? .virtual : .addressTaken)
        }
        var roots = Array(uses.keys)
        roots.append(file.header.e_entry)
        let callees = readCode(file, functions, starts)
        let reached = FunctionReferences.reached(from: roots, callees)
        for start in starts where !reached.contains(start) { uses[start, default: []].insert(.unreachable) }
    }

    /// Reads what the code refers to.
    ///
    /// - Returns: the starts of functions that each function's code refers to. Code outside of all functions is at 0.
    private mutating func readCode(
        _ file: borrowing ELFFile, _ functions: [Range<UInt64>], _ starts: Set<UInt64>
    ) -> [UInt64: [UInt64]] {
        let isARM = file.isARM
        let isFixed = file.header.e_type == UInt16(ET_EXEC)
        let hooks = HookedFunctions.hookCalls(in: file)
        var callees: [UInt64: [UInt64]] = [:]
        for section in file.executableBytes {
            section.bytes.withUnsafeBytes { bytes in
                let start = section.range.lowerBound
                for target in CallInstructions(bytes, at: start, isARM: isARM).branches
                where starts.contains(target.target) {
                    let owner = FunctionReferences.range(functions, holding: target.at)?.lowerBound ?? 0
                    callees[owner, default: []].append(target.target)
                }
                for load in AddressLoads(bytes[...], at: start, isARM: isARM, isFixed: isFixed).loads
                where starts.contains(load.target) {
                    let owner = FunctionReferences.range(functions, holding: load.at)?.lowerBound ?? 0
                    callees[owner, default: []].append(load.target)
                    // A function tells the hooks its own address, and that of what was inlined into it.
                    let next = hooks.partitioningIndex { $0 >= load.at }
                    let isForHook = next < hooks.count && hooks[next] - load.at <= FunctionReferences.hookDistance
                    if owner != load.target, !isForHook { uses[load.target, default: []].insert(.addressTaken) }
                }
            }
        }
        return callees
    }

    /// Compilers load a function's address this many bytes before they call its hook, at most.
    private static let hookDistance: UInt64 = 32

    private static func reached(from roots: [UInt64], _ callees: [UInt64: [UInt64]]) -> Set<UInt64> {
        var reached = Set(roots)
        reached.insert(0)
        var open = Array(reached)
        while let next = open.popLast() {
            for callee in callees[next] ?? [] where reached.insert(callee).inserted { open.append(callee) }
        }
        return reached
    }

    private static func range(_ ranges: [Range<UInt64>], holding address: UInt64) -> Range<UInt64>? {
        let index = ranges.partitioningIndex { $0.lowerBound > address } - 1
        return index >= 0 && ranges[index].contains(address) ? ranges[index] : nil
    }

    /// The addresses of functions that the file exports, and the tables of virtual functions (Itanium C++ ABI, 5.1.4).
    private static func symbols(_ file: borrowing ELFFile) -> (exported: [UInt64], tables: [Range<UInt64>]) {
        var (exported, tables): ([UInt64], [Range<UInt64>]) = ([], [])
        for type in [SHT_DYNSYM, SHT_SYMTAB] {
            guard let section = file.section(type: type), let data = section.data else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
            var symbol = GElf_Sym()
            for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
                guard symbol.st_shndx != UInt16(SHN_UNDEF) else { continue }
                if type == SHT_DYNSYM, symbol.st_info & 0xf == UInt8(STT_FUNC) { exported.append(symbol.st_value) }
                guard symbol.st_info & 0xf == UInt8(STT_OBJECT), symbol.st_size > 0,
                    !symbol.st_value.addingReportingOverflow(symbol.st_size).overflow,
                    let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name)),
                    strncmp(name, "_ZTV", 4) == 0 || strncmp(name, "_ZTC", 4) == 0
                else { continue }
                tables.append(symbol.st_value..<symbol.st_value + symbol.st_size)
            }
        }
        tables.sort { $0.lowerBound < $1.lowerBound }
        return (exported, tables)
    }
}
