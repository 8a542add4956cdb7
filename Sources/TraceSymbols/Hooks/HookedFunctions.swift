internal import CElfutils
internal import Glibc

/// Which functions of an executable or library call the hook that tells of their entry.
public struct HookedFunctions: Sendable {
    public struct Function: Sendable, Equatable {
        public var linkageName: String
        public var isHooked: Bool

        /// The name as reports show it, or, with `raw`, demangled in full. It is made anew at each call.
        public func name(raw: Bool) -> String {
            (raw ? nil : SwiftName(linkageName)?.name) ?? demangle(linkageName, spoken: !raw)
        }
    }

    /// The functions by ascending address. Several names of one address are one function.
    public let functions: [Function]

    public var hookedCount: Int { functions.count { $0.isHooked } }

    /// Reads the file and looks through its code for calls of a hook: directly, through the procedure linkage table, or
    /// through the global offset table (System V ABI; Arm's ELF for the 64-bit architecture).
    ///
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions).
    public init(path: String) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        let symbols = FunctionSymbols(file)
        guard !symbols.functions.isEmpty else { throw .noSymbols(path) }
        let calls = HookCalls(file, definitions: symbols.hooks)
        let hooked = calls.addresses.sorted()
        var next = 0
        functions = symbols.functions.map { symbol in
            while next < hooked.count, hooked[next] < symbol.start { next += 1 }
            let isHooked = next < hooked.count && hooked[next] < symbol.start + symbol.size
            return Function(linkageName: String(cString: symbol.name), isHooked: isHooked)
        }
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
            if library.namesSymbol(hooks, in: SHT_DYNSYM, where: { $0 }) { libraries.append(library.path) }
            return false
        }
        for library in libraries {
            if let functions = try? HookedFunctions(path: library) { modules.append((library, functions)) }
        }
        return modules
    }

    /// The hook of gcc and clang, Swift's, and the function that the first one calls in a shared library.
    private static let hooks = ["__cyg_profile_func_enter", "__tsan_func_entry", "fathom_function_enter"]

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

    static func isHook(_ name: UnsafePointer<CChar>) -> Bool { hooks.contains { strcmp($0, name) == 0 } }
}

/// The functions with code in the file, by its fullest symbol table. A large program has some hundred thousand of them,
/// so their names are not copied from the open file.
private struct FunctionSymbols {
    private(set) var functions: [(start: UInt64, size: UInt64, name: UnsafePointer<CChar>)] = []
    /// Addresses of the hooks that the file defines.
    private(set) var hooks: Set<UInt64> = []

    init(_ file: borrowing ELFFile) {
        guard let section = file.section(type: SHT_SYMTAB) ?? file.section(type: SHT_DYNSYM), let data = section.data
        else { return }
        let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbol = GElf_Sym()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
            guard symbol.st_info & 0xf == UInt8(STT_FUNC), symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_size > 0,
                let name = elf_strptr(file.handle, Int(section.header.sh_link), Int(symbol.st_name))
            else { continue }
            // These are rare parts that the compiler moved away from their function, which has its hooks where it
            // begins.
            if strstr(name, ".cold") != nil || strstr(name, ".part.") != nil { continue }
            if HookedFunctions.isHook(name) { hooks.insert(symbol.st_value) }
            if HookedFunctions.isOfSharedLibraries(name) || HookedFunctions.isOfStartFiles(name) { continue }
            functions.append((symbol.st_value, symbol.st_size, UnsafePointer(name)))
        }
        functions.sort { $0.start != $1.start ? $0.start < $1.start : strcmp($0.name, $1.name) < 0 }
        var last: UInt64?
        functions.removeAll { function in
            defer { last = function.start }
            return function.start == last
        }
    }
}

/// Where a file's code calls a hook.
private struct HookCalls {
    private(set) var addresses: [UInt64] = []
    /// Slots of the global offset table that hold a hook's address.
    private var slots: Set<UInt64> = []
    /// The addresses that a call of a hook goes to: the hook itself, or code that jumps there through a slot.
    private var targets: Set<UInt64>

    init(_ file: borrowing ELFFile, definitions: Set<UInt64>) {
        targets = definitions
        findSlots(file)
        let isX86 = file.header.e_machine == UInt16(EM_X86_64)
        guard isX86 || file.header.e_machine == UInt16(EM_AARCH64), !targets.isEmpty || !slots.isEmpty else { return }
        let code = code(file)
        for section in code { isX86 ? findStubsX86(section) : findStubsArm(section) }
        for section in code { isX86 ? findCallsX86(section) : findCallsArm(section) }
    }

    private mutating func findSlots(_ file: borrowing ELFFile) {
        let handle = file.handle
        guard let symbols = file.section(type: SHT_DYNSYM), let table = symbols.data else { return }
        let link = Int(symbols.header.sh_link)
        var section: OpaquePointer?
        while let next = elf_nextscn(handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_type == UInt32(SHT_RELA),
                let data = elf_getdata(next, nil)
            else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_RELA, 1, UInt32(EV_CURRENT)))
            var entry = GElf_Rela()
            var symbol = GElf_Sym()
            for index in 0..<min(count, Int(Int32.max)) where gelf_getrela(data, Int32(index), &entry) != nil {
                guard gelf_getsym(table, Int32(truncatingIfNeeded: entry.r_info >> 32), &symbol) != nil,
                    let name = elf_strptr(handle, link, Int(symbol.st_name)), HookedFunctions.isHook(name)
                else { continue }
                slots.insert(entry.r_offset)
            }
        }
    }

    private struct Code {
        var bytes: UnsafeRawBufferPointer
        var address: UInt64

        func word(at offset: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }

        /// The address that a 32-bit displacement at `offset`, which ends its instruction, points to.
        func displaced(at offset: Int) -> UInt64 {
            address &+ UInt64(offset + 4) &+ UInt64(bitPattern: Int64(Int32(bitPattern: word(at: offset))))
        }
    }

    /// The sections that hold instructions; they live as long as the file is open.
    private func code(_ file: borrowing ELFFile) -> [Code] {
        var found: [Code] = []
        var section: OpaquePointer?
        while let next = elf_nextscn(file.handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_flags & UInt64(SHF_EXECINSTR) != 0,
                header.sh_type != UInt32(SHT_NOBITS), let data = elf_getdata(next, nil), let bytes = data.pointee.d_buf
            else { continue }
            let content = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size)
            found.append(Code(bytes: content, address: header.sh_addr))
        }
        return found
    }

    // MARK: x86-64

    /// `jmp *slot(%rip)`, alone or behind `endbr64` and with the `bnd` prefix; or `mov slot(%rip),%rax` in the hook of a
    /// shared library.
    private mutating func findStubsX86(_ code: Code) {
        for offset in 0..<max(0, code.bytes.count - 6) {
            let address = code.address + UInt64(offset)
            switch code.bytes[offset] {
            case 0xff where code.bytes[offset + 1] == 0x25 && slots.contains(code.displaced(at: offset + 2)):
                for before in [0, 1, 4, 5] as [UInt64] { targets.insert(address &- before) }
            case 0x48
            where code.bytes[offset + 1] == 0x8b && code.bytes[offset + 2] == 0x05
                && slots.contains(code.displaced(at: offset + 3)):
                for before in [0, 4] as [UInt64] { targets.insert(address &- before) }
            default: break
            }
        }
    }

    /// `call target` and, without a procedure linkage table, `call *slot(%rip)`.
    private mutating func findCallsX86(_ code: Code) {
        for offset in 0..<max(0, code.bytes.count - 5) {
            switch code.bytes[offset] {
            case 0xe8 where code.bytes.count - offset >= 5 && targets.contains(code.displaced(at: offset + 1)):
                addresses.append(code.address + UInt64(offset))
            case 0xff where code.bytes[offset + 1] == 0x15 && slots.contains(code.displaced(at: offset + 2)):
                addresses.append(code.address + UInt64(offset))
            default: break
            }
        }
    }

    // MARK: aarch64

    /// `adrp x16, page; ldr x17, [x16, #offset]`
    private mutating func findStubsArm(_ code: Code) {
        for offset in stride(from: 0, to: code.bytes.count - 7, by: 4) {
            let (page, load) = (code.word(at: offset), code.word(at: offset + 4))
            guard page & 0x9f00_001f == 0x9000_0010, load & 0xffc0_03ff == 0xf940_0211 else { continue }
            let address = code.address + UInt64(offset)
            let pages = Int32(bitPattern: (page >> 5 & 0x7ffff) << 13) >> 11 | Int32(page >> 29 & 3)
            let base = (address & ~0xfff) &+ UInt64(bitPattern: Int64(pages) << 12)
            if slots.contains(base &+ UInt64(load >> 10 & 0xfff) * 8) {
                targets.insert(address)
                targets.insert(address &- 4)  // behind `bti c`
            }
        }
    }

    /// `bl target`
    private mutating func findCallsArm(_ code: Code) {
        for offset in stride(from: 0, to: code.bytes.count - 3, by: 4) {
            let word = code.word(at: offset)
            guard word & 0xfc00_0000 == 0x9400_0000 else { continue }
            let distance = Int64(Int32(bitPattern: word << 6) >> 4)
            let address = code.address + UInt64(offset)
            if targets.contains(address &+ UInt64(bitPattern: distance)) { addresses.append(address) }
        }
    }
}
