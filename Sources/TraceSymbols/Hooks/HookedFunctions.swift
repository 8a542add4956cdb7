internal import CElfutils
internal import Glibc

/// Which functions of an executable or library call the hook that tells of their entry.
public struct HookedFunctions: Sendable {
    public struct Function: Sendable, Equatable {
        public var linkageName: String
        public var isHooked: Bool
        /// Its addresses in the file.
        public var range: Range<UInt64>
        /// Other names of the same function.
        public var aliases: [String] = []

        /// Returns the name as reports show it, or, with `raw`, demangled in full. It is made anew at each call.
        public func name(raw: Bool) -> String {
            (raw ? nil : SwiftName(linkageName)?.name) ?? demangle(linkageName, spoken: !raw)
        }
    }

    /// The functions by ascending address. Several names of one address are one function.
    public let functions: [Function]
    /// Where hooks of entry are called, and the sleds at beginnings, in ascending order.
    private let entryCalls: [UInt64]
    private let entrySleds: [UInt64]
    /// What calls of the hook go through: code that has not read yet where the hook is.
    private let entryStubs: Set<UInt64>
    /// The section that holds most code; empty when there is none.
    public let code: Range<UInt64>

    /// Whether some of them have sleds, which are hooks once they are open.
    public let hasSleds: Bool

    /// Whether the functions of the libraries that the program uses are among these, because it is linked statically.
    public let includesLibraries: Bool

    public var hookedCount: Int { functions.count { $0.isHooked } }

    /// Reads the file and looks through its code for calls of a hook: directly, through the procedure linkage table, or
    /// through the global offset table (System V ABI; Arm's ELF for the 64-bit architecture).
    ///
    /// - Parameter parts: whether what compilers split off functions counts as functions, too.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions).
    public init(path: String, parts: Bool = false) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        let symbols = FunctionSymbols(file, parts: parts)
        guard !symbols.functions.isEmpty else { throw .noSymbols(path) }
        let calls = HookCalls(file, of: HookedFunctions.entries, definitions: symbols.hooks)
        let sleds = Sleds(file), sledFunctions = sleds.functions
        entrySleds = sleds.entries.sorted()
        entryCalls = (calls.addresses + entrySleds).sorted()
        entryStubs = calls.stubs
        hasSleds = !sledFunctions.isEmpty
        let hooked = (calls.addresses + sledFunctions).sorted()
        let isStarted = file.header.e_entry != 0
        includesLibraries = isStarted && !file.segments.contains { Int32(bitPattern: $0.p_type) == PT_INTERP }
        code = file.executableBytes.map(\.range).max { $0.count < $1.count } ?? 0..<0
        var next = 0
        functions = symbols.functions.map { symbol in
            while next < hooked.count, hooked[next] < symbol.start { next += 1 }
            let isHooked = next < hooked.count && hooked[next] < symbol.start + symbol.size
            return Function(
                linkageName: String(cString: symbol.name), isHooked: isHooked,
                range: symbol.start..<symbol.start &+ symbol.size,
                aliases: symbols.aliases[symbol.start]?.map { String(cString: $0) } ?? [])
        }
    }

    /// The function that holds `address`, as its place in ``functions``. O(log n).
    public func place(of address: UInt64) -> Int? {
        let next = functions.partitioningIndex { $0.range.lowerBound > address }
        return next > 0 && functions[next - 1].range.contains(address) ? next - 1 : nil
    }

    /// Whether a function calls a hook of entry in front of an address in it. O(log n).
    public func hasEntered(_ place: Int, before address: UInt64) -> Bool {
        let next = entryCalls.partitioningIndex { $0 >= functions[place].range.lowerBound }
        return next < entryCalls.count && entryCalls[next] < address
    }

    /// Whether a thread that is at an address is on its way to the hook of entry, and finds the hook only from here on.
    public func isOnWayToEntry(_ address: UInt64) -> Bool { entryStubs.contains(address) }

    /// The sled at a function's beginning; nil: it has none. O(log n).
    public func entrySled(of place: Int) -> UInt64? {
        let range = functions[place].range
        let next = entrySleds.partitioningIndex { $0 >= range.lowerBound }
        return next < entrySleds.count && range.contains(entrySleds[next]) ? entrySleds[next] : nil
    }

    /// A linkage name before the first dot, behind which compilers say what version it is. A name may begin with one.
    public static func withoutVersion(_ linkageName: String) -> String {
        guard let dot = linkageName.dropFirst().firstIndex(of: ".") else { return linkageName }
        return String(linkageName[..<dot])
    }

    /// Where the calls of hooks return to, in ascending order.
    static func hookReturns(in file: borrowing ELFFile) throws(SymbolProblem) -> [UInt64] {
        HookCalls(file, of: entries, definitions: FunctionSymbols(file).hooks).returns.sorted()
    }

    /// Where hooks are called, of entry or of exit, in ascending order.
    static func hookCalls(in file: borrowing ELFFile) -> [UInt64] {
        let symbols = FunctionSymbols(file)
        return
            (HookCalls(file, of: entries, definitions: symbols.hooks).addresses
            + HookCalls(file, of: exits, definitions: symbols.exitHooks).addresses).sorted()
    }

    /// A program and those libraries it needs that have hooks, each with its functions.
    ///
    /// - Parameters:
    ///   - program: path of an ELF file.
    ///   - libraryPath: the value of LD_LIBRARY_PATH the program will see.
    /// - Throws: ``SymbolProblem`` of the program; libraries without symbols are passed over.
    public static func modules(
        of program: String, libraryPath: String? = nil
    ) throws(SymbolProblem) -> [(path: String, functions: HookedFunctions)] {
        var modules = [(path: program, functions: try HookedFunctions(path: program))]
        let file = try ELFFile(path: program)
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        var libraries: [String] = []
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            if library.namesSymbol(entries, in: SHT_DYNSYM, where: { $0 }) || library.hasSleds {
                libraries.append(library.path)
            }
            return false
        }
        for library in libraries {
            if let functions = try? HookedFunctions(path: library) { modules.append((library, functions)) }
        }
        return modules
    }

    /// The hook of gcc and clang, Swift's, and the function that the first one calls in a shared library.
    static let entries = ["__cyg_profile_func_enter", "__tsan_func_entry", "fathom_function_enter"]
    /// Their counterparts at a function's end.
    static let exits = ["__cyg_profile_func_exit", "__tsan_func_exit", "fathom_function_leave"]

    private static let startFiles = ["_start", "_init", "_fini", "_dl_relocate_static_pie", "call_weak_fn"]

    /// Whether a function is one of the two hooks that `fathom build` links into each shared library.
    static func isOfSharedLibraries(_ name: UnsafePointer<CChar>) -> Bool {
        strcmp(name, "__cyg_profile_func_enter") == 0 || strcmp(name, "__cyg_profile_func_exit") == 0
    }

    /// Whether a function is what the C library's start files put into every program and library, where no compiler could add
    /// hooks.
    static func isOfStartFiles(_ name: UnsafePointer<CChar>) -> Bool {
        startFiles.contains { strcmp($0, name) == 0 }
    }

    static func isAny(_ name: UnsafePointer<CChar>, of hooks: [String]) -> Bool {
        hooks.contains { strcmp($0, name) == 0 }
    }
}

/// The functions with code in the file, by its fullest symbol table. A large program has some hundred thousand of them,
/// so their names are not copied from the open file.
private struct FunctionSymbols {
    private(set) var functions: [(start: UInt64, size: UInt64, name: UnsafePointer<CChar>)] = []
    /// Names of functions that have another one, by address.
    private(set) var aliases: [UInt64: [UnsafePointer<CChar>]] = [:]
    /// Addresses of the hooks that the file defines.
    private(set) var hooks: Set<UInt64> = []
    private(set) var exitHooks: Set<UInt64> = []

    init(_ file: borrowing ELFFile, parts: Bool = false) {
        guard let section = file.section(type: SHT_SYMTAB) ?? file.section(type: SHT_DYNSYM), let data = section.data
        else { return }
        let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbol = GElf_Sym()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
            guard symbol.st_info & 0xf == UInt8(STT_FUNC), symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_size > 0,
                !symbol.st_value.addingReportingOverflow(symbol.st_size).overflow,
                let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name))
            else { continue }
            // These are rare parts that the compiler moved away from their function, which has its hooks where it
            // begins.
            if strstr(name, ".cold") != nil || !parts && strstr(name, ".part.") != nil { continue }
            if HookedFunctions.isAny(name, of: HookedFunctions.entries) { hooks.insert(symbol.st_value) }
            if HookedFunctions.isAny(name, of: HookedFunctions.exits) { exitHooks.insert(symbol.st_value) }
            if HookedFunctions.isOfSharedLibraries(name) || HookedFunctions.isOfStartFiles(name) { continue }
            functions.append((symbol.st_value, symbol.st_size, UnsafePointer(name)))
        }
        functions.sort { $0.start != $1.start ? $0.start < $1.start : strcmp($0.name, $1.name) < 0 }
        var last: UInt64?
        var aliases: [UInt64: [UnsafePointer<CChar>]] = [:]
        functions.removeAll { function in
            defer { last = function.start }
            if function.start == last { aliases[function.start, default: []].append(function.name) }
            return function.start == last
        }
        self.aliases = aliases
    }
}
