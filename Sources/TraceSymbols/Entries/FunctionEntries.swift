internal import CElfutils
internal import Glibc

/// Where the functions of a module begin, and with which byte: what a trap can take the place of.
///
/// Only what a symbol says to be a function with a size counts or, in a stripped module, the table for unwinding; and only if its
/// code can be decoded from its first byte to its last. So data among code is left alone, and so is assembly that is not made as
/// compilers make functions.
public struct FunctionEntries: Sendable {
    public struct Entry: Sendable, Equatable {
        /// In the module's file.
        public var address: UInt64
        public var byte: UInt8
    }

    public let path: String
    /// The file's build id; empty when it has none.
    public let buildID: [UInt8]
    /// By ascending address. Functions that share an entry have one.
    public let entries: [Entry]
    /// How many functions have none, because their code is not like a compiler's.
    public let leftAlone: Int
    /// Whether there are symbols only of those functions that other modules may call. The others are known by where they begin.
    public let isStripped: Bool

    /// What lies between modules, or runs where no function has been called.
    private static let sections: Set<String> = [".plt", ".plt.got", ".plt.sec", ".iplt", ".init", ".fini"]

    /// - Parameter buildID: of the module as it runs, if that is known: another file's functions are not taken.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions).
    public init(path: String, buildID: [UInt8]? = nil) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        self.path = path
        self.buildID = file.buildID
        if let buildID, buildID != file.buildID { throw .noSymbols(path) }
        if file.header.e_machine != UInt16(EM_X86_64) || file.hasTextRelocations {
            (entries, leftAlone, isStripped) = ([], 0, false)
            return
        }
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
        if isStripped { symbols = EntrySymbol.all(symbols, and: UnwindEntries(file).functions, in: file) }
        guard !symbols.isEmpty else { throw .noSymbols(path) }
        self.isStripped = isStripped
        let found = FunctionEntries.decode(symbols, file, leavesParts: isStripped)
        (entries, leftAlone) = (found.entries, found.left)
    }

    /// A program and the libraries that it needs, with what tells their builds apart. Those that cannot be read are passed
    /// over.
    ///
    /// - Parameter libraryPath: the value of LD_LIBRARY_PATH that the program will see.
    public static func modules(
        of program: String, libraryPath: String?
    ) throws(SymbolProblem) -> [(path: String, buildID: [UInt8])] {
        let file = try ELFFile(path: program)
        var modules = [(path: program, buildID: file.buildID)]
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            modules.append((library.path, library.buildID))
            return false
        }
        return modules
    }

    /// Whether a program has the thread sanitizer, which runs handlers of signals while all signals are blocked: a trap would end the
    /// program then.
    public static func hasThreadSanitizer(_ path: String) -> Bool {
        guard let file = try? ELFFile(path: path) else { return false }
        // Its library is needed, or is in the program. Swift's hooks define the first of these, too.
        return file.namesSymbol(["__tsan_init"], in: SHT_DYNSYM) { $0 }
            || [SHT_DYNSYM, SHT_SYMTAB].contains { file.namesSymbol(["__tsan_acquire"], in: $0) { !$0 } }
    }

    /// Whether the dynamic linker starts the file as a program.
    public static func isProgram(_ path: String) -> Bool {
        guard let file = try? ELFFile(path: path) else { return false }
        return file.segments.contains { $0.p_type == UInt32(PT_INTERP) }
    }

    /// - Parameter leavesParts: whether what conditional branches of other functions lead to is left alone, as parts of these.
    private static func decode(
        _ symbols: [EntrySymbol], _ file: borrowing ELFFile, leavesParts: Bool
    ) -> (entries: [Entry], left: Int) {
        let code = file.codeSections.filter { !sections.contains($0.name) }
        let lengths = InstructionLengths()
        var entries: [Entry] = []
        var left = 0
        // The functions that still go on where the next one begins: where they overlap, it must begin one of their
        // instructions, too.
        var open: [EntrySymbol] = []
        var parts: Set<UInt64> = []
        for symbol in symbols {
            guard let section = code.first(where: { $0.range.contains(symbol.start) }),
                symbol.end <= section.range.upperBound
            else { continue }
            open.removeAll { $0.end <= symbol.start }
            let isWhole = section.bytes.withUnsafeBytes { bytes in
                walk(symbol, to: symbol.end, section.range.lowerBound, bytes, lengths)
                    && open.allSatisfy { walk($0, to: symbol.start, section.range.lowerBound, bytes, lengths) }
            }
            if isWhole {
                if leavesParts {
                    section.bytes.withUnsafeBytes {
                        parts.formUnion(
                            UnwindEntries.parts(
                                reachedFrom: symbol.start..<symbol.end, $0, section.range.lowerBound))
                    }
                }
                let byte = section.bytes[Int(symbol.start - section.range.lowerBound)]
                entries.append(Entry(address: symbol.start, byte: byte))
                open.append(symbol)
            } else {
                left += 1
            }
        }
        let count = entries.count
        entries.removeAll { parts.contains($0.address) }
        return (entries, left + count - entries.count)
    }

    /// Whether the instructions of a function lead from its beginning to `end`, and not past it.
    private static func walk(
        _ symbol: EntrySymbol, to end: UInt64, _ base: UInt64, _ bytes: UnsafeRawBufferPointer,
        _ lengths: InstructionLengths
    ) -> Bool {
        let limit = Int(symbol.end - base)
        let code = UnsafeRawBufferPointer(rebasing: bytes[..<limit])
        var position = Int(symbol.start - base)
        let goal = Int(end - base)
        while position < goal {
            let length = lengths.length(code, at: position)
            if length == 0 { return false }
            position += length
        }
        return position == goal
    }
}

/// A symbol of a function, by its addresses in the file.
private struct EntrySymbol {
    var start: UInt64
    var end: UInt64

    /// By ascending address; of several that begin at one, the longest.
    static func all(of section: ELFFile.Section, in file: borrowing ELFFile) -> [EntrySymbol] {
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
            symbols.append(EntrySymbol(start: symbol.st_value, end: end))
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
    fileprivate var resolvers: Set<UInt64> {
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
                    if entry.r_info & 0xffff_ffff == UInt64(R_X86_64_IRELATIVE) {
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

    /// The sections with code.
    fileprivate var codeSections: [(name: String, range: Range<UInt64>, bytes: [UInt8])] {
        var names: [UInt64: String] = [:]
        _ = section { name, header in
            if header.sh_flags & UInt64(SHF_EXECINSTR) != 0 { names[header.sh_addr] = name }
            return false
        }
        return executableBytes.map { (names[$0.range.lowerBound] ?? "", $0.range, $0.bytes) }
    }

    /// Whether the dynamic linker writes into code, and takes away the right to do so afterwards.
    fileprivate var hasTextRelocations: Bool {
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
