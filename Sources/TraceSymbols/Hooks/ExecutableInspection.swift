internal import CElfutils
internal import Glibc
internal import TraceText

/// What must be known of a program before it is recorded.
public struct ExecutableInspection: Sendable {
    public enum Kind: Sendable, Equatable {
        /// The dynamic loader starts it, so a library can be preloaded.
        case elfDynamic
        /// Nothing can be preloaded, so the runtime has to be linked in.
        case elfStatic
        /// Programs load it; by itself it does not run.
        case sharedLibrary
        case script(interpreter: String)
        case notExecutableFormat
    }

    public var kind: Kind
    public var is64Bit = false
    /// Whether it was built for this machine's instruction set.
    public var matchesHost = false
    /// Whether it, or a library it needs, calls the compiler's function hooks.
    public var isInstrumented = false
    /// Whether it defines gcc's hook itself. Its own functions then call that one, and no preloaded one.
    public var hasOwnHooks = false
    /// Whether the runtime is linked in, dynamically or statically.
    public var hasFathomRuntime = false
    /// Whether it, or a script's interpreter, is linked with musl, whose loader ends a program for which a library for
    /// glibc is preloaded.
    public var usesMusl = false
    /// Whether Go made it, whose programs set their signals' handlers without the C library.
    public var isGo = false
    /// Whether it gains rights when it starts. The loader would then ignore a preloaded library.
    public var isPrivileged = false

    /// Reads the file, and the libraries it needs until one turns out to be instrumented.
    ///
    /// - Parameters:
    ///   - path: of the program itself; PATH is not searched.
    ///   - libraryPath: the value of LD_LIBRARY_PATH the program will see.
    /// - Throws: ``SymbolProblem/missing(_:)`` or ``SymbolProblem/unreadable(_:reason:)``.
    /// - Complexity: O(dynamic symbols of the program and its libraries).
    public static func inspect(path: String, libraryPath: String? = nil) throws(SymbolProblem) -> Self {
        let head = try head(of: path)
        if head.starts(with: "#!".utf8) {
            var script = Self(kind: .script(interpreter: interpreter(in: head)))
            script.usesMusl = isForMusl(interpreter(in: head))
            return script
        }
        guard head.starts(with: "\u{7f}ELF".utf8) else { return Self(kind: .notExecutableFormat) }
        let file = try ELFFile(path: path)
        let types = file.segments.map { Int32(bitPattern: $0.p_type) }
        guard file.header.e_type == UInt16(ET_EXEC) || file.header.e_type == UInt16(ET_DYN), types.contains(PT_LOAD)
        else { return Self(kind: .notExecutableFormat) }

        let dynamic = DynamicSection(file)
        // A program that is static and position-independent is a shared object, too, but marked as a program. Some libraries, such as
        // the C library's own, can be started as well, and some have the runtime in them.
        let isLinkedStatically = file.note(owner: "Fathom", type: nil) != nil
        let isLoaded = dynamic.name != nil || isLinkedStatically && !dynamic.needed.isEmpty
        let isLibrary =
            file.header.e_type == UInt16(ET_DYN) && !dynamic.isMarkedProgram && (!isLinkedStatically || isLoaded)
        let isStarted = types.contains(PT_INTERP) && !(isLibrary && isLoaded)
        var inspection = Self(kind: isStarted ? .elfDynamic : isLibrary ? .sharedLibrary : .elfStatic)
        inspection.is64Bit = file.is64Bit
        inspection.matchesHost = file.header.e_machine == hostMachine
        inspection.isPrivileged = gainsRights(path)
        inspection.hasFathomRuntime = isLinkedStatically || dynamic.needed.contains(where: isRuntime)
        inspection.isGo = file.section(named: ".go.buildinfo") != nil
        inspection.usesMusl = dynamic.needed.contains(where: isMusl)
        inspection.isInstrumented = isLinkedStatically || callsHooks(file) || file.hasSleds
        inspection.hasOwnHooks =
            !inspection.hasFathomRuntime && inspection.kind == .elfDynamic
            && [SHT_DYNSYM, SHT_SYMTAB].contains { file.namesSymbol([hooks[0]], in: $0) { !$0 } }
        if !inspection.isInstrumented, inspection.kind != .elfStatic {
            var search = LibrarySearch(program: file, libraryPath: libraryPath)
            inspection.isInstrumented = search.anyLibrary(of: file, dynamic) { library in
                DynamicSection(library).name.map(isRuntime) != true
                    && (library.namesSymbol(hooks, in: SHT_DYNSYM) { $0 } || library.hasSleds)
            }
        }
        return inspection
    }

    /// The hook of gcc and clang, and the functions that the hooks in a shared library and in a Swift product call.
    private static let hooks = ["__cyg_profile_func_enter", "fathom_function_enter", "fathom_swift_enter"]

    /// Whether a file calls hooks. It may also define gcc's hook itself, as every statically linked program does.
    private static func callsHooks(_ file: borrowing ELFFile) -> Bool {
        [SHT_DYNSYM, SHT_SYMTAB].contains { table in
            file.namesSymbol(hooks, in: table) { $0 } || file.namesSymbol([hooks[0]], in: table) { _ in true }
        }
    }

    /// glibc is called `libc.so.6`.
    private static func isMusl(_ library: String) -> Bool { library == "libc.so" || library.hasPrefix("libc.musl-") }

    private static func isForMusl(_ program: String) -> Bool {
        guard let head = try? head(of: program), head.starts(with: "\u{7f}ELF".utf8) else { return false }
        do throws(SymbolProblem) {
            return DynamicSection(try ELFFile(path: program)).needed.contains(where: isMusl)
        } catch {
            return false
        }
    }

    private static func isRuntime(_ library: String) -> Bool {
        library.hasPrefix("libfathom.so") || library.hasPrefix("libfathom-runtime.so")
    }

    private static var hostMachine: UInt16 {
        #if arch(x86_64)
            UInt16(EM_X86_64)
        #elseif arch(arm64)
            UInt16(EM_AARCH64)
        #else
            UInt16(EM_NONE)
        #endif
    }

    /// The first bytes of the file: as many as the kernel reads to tell its format.
    private static func head(of path: String) throws(SymbolProblem) -> ArraySlice<UInt8> {
        let descriptor = openWithoutWaiting(path)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw .missing(path) }
            throw .unreadable(path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path, reason: String(cString: strerror(errno))) }
        return bytes[..<count]
    }

    /// The program behind `#!`.
    private static func interpreter(in head: ArraySlice<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
        return String(decoding: line.drop(while: isBlank).prefix { !isBlank($0) }, as: UTF8.self)
    }

    /// Whether it is set-user-ID or set-group-ID to somebody else, or has file capabilities that this user lacks.
    private static func gainsRights(_ path: String) -> Bool {
        var status = stat()
        guard path.withRawCString({ stat($0, &status) }) == 0 else { return false }
        if status.st_mode & S_ISUID != 0, status.st_uid != geteuid() { return true }
        if status.st_mode & S_ISGID != 0, status.st_gid != getegid() { return true }
        return getuid() != 0 && path.withRawCString { getxattr($0, "security.capability", nil, 0) } > 0
    }
}

extension ELFFile {
    var is64Bit: Bool { header.e_ident.4 == UInt8(ELFCLASS64) }

    /// Whether a symbol table holds one of `names` with `isUndefined` as asked. O(symbols).
    func namesSymbol(_ names: [String], in table: Int32, where isWanted: (_ isUndefined: Bool) -> Bool) -> Bool {
        guard let section = section(type: table), let data = section.data,
            let strings = self.section(index: Int(section.header.sh_link))?.data
        else { return false }
        let text = UnsafeRawBufferPointer(start: strings.pointee.d_buf, count: strings.pointee.d_size)
        let wanted = names.map { Array($0.utf8) + [0] }
        let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbol = GElf_Sym()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
            let name = Int(symbol.st_name)
            guard name > 0, name < text.count, wanted.contains(where: { text[name] == $0[0] }) else { continue }
            if wanted.contains(where: { text[name...].starts(with: $0) }),
                isWanted(symbol.st_shndx == UInt16(SHN_UNDEF))
            {
                return true
            }
        }
        return false
    }
}
