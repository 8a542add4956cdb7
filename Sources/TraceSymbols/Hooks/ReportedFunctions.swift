internal import CElfutils

/// The functions of a module, with the addresses by which hooks report their calls.
///
/// The hooks of gcc and clang report where a function begins. Swift's report where they return to, which is inside the
/// function.
public struct ReportedFunctions: Sendable {
    public struct Function: Sendable {
        /// As reports show it.
        public var name: String
        /// In the module's file.
        public var addresses: [UInt64]
        /// Where it is defined, if that was asked for, and debug information tells.
        public var file: String?
    }

    public let path: String
    /// The file's build id; empty when it has none.
    public let buildID: [UInt8]
    /// By ascending address; none when nothing in the module calls a hook, unless it was asked for what others call.
    public let functions: [Function]
    /// Whether they are those that other modules can call, by each of their names.
    public let isLibrary: Bool
    /// Whether they have no hooks, and their calls are told of all the same.
    public let hasDetours: Bool

    /// Which functions are told of a module where nothing calls a hook.
    public enum Unhooked: Sendable {
        case none
        /// Those that other modules can call.
        case exported
        /// Those that may get detours.
        case all
    }

    private static let hooks = ["__cyg_profile_func_enter", "fathom_function_enter", "fathom_swift_enter"]

    /// - Parameters:
    ///   - buildID: of the module as it runs, if that is known.
    ///   - lines: whether it is asked for where functions are defined, which takes a pass over the debug information.
    ///   - unhooked: which functions a module without hooks has.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions), with each name demangled.
    public init(
        path: String, buildID: [UInt8]? = nil, lines: Bool = false, unhooked: Unhooked = .none
    ) throws(SymbolProblem) {
        try self.init(ELFFile(path: path), buildID: buildID, lines: lines, unhooked: unhooked)
    }

    private init(
        _ file: borrowing ELFFile, buildID: [UInt8]?, lines: Bool, unhooked: Unhooked
    ) throws(SymbolProblem) {
        path = file.path
        self.buildID = file.buildID
        // The C library defines the hook that does nothing, and calls none.
        let hasHooks =
            file.namesSymbol(Self.hooks, in: SHT_DYNSYM) { $0 }
            || file.namesSymbol(Self.hooks, in: SHT_SYMTAB) { _ in true } || file.hasSleds
        isLibrary = !hasHooks && unhooked == .exported
        hasDetours = !hasHooks && unhooked == .all
        guard hasHooks || hasDetours else {
            functions = isLibrary ? file.exportedFunctions() : []
            return
        }
        let symbols = ModuleSymbols(path: path, buildID: buildID ?? file.buildID, joinsParts: true)
        guard let all = symbols.functions(lines: lines) else { throw symbols.problem ?? .noSymbols(path) }
        let returns = symbols.hasSwiftCode ? try HookedFunctions.hookReturns(in: file) : []
        var next = 0
        functions = all.enumerated().map { index, symbol in
            let end = index + 1 < all.count ? all[index + 1].start : .max
            var addresses = [symbol.start]
            while next < returns.count, returns[next] < symbol.start { next += 1 }
            while next < returns.count, returns[next] < end {
                addresses.append(returns[next])
                next += 1
            }
            return Function(name: symbol.name, addresses: addresses, file: symbol.file)
        }
    }

    /// Finds the functions of a program and of the libraries that it needs, which may have none. Passes over modules that
    /// cannot be read.
    ///
    /// - Parameters:
    ///   - libraryPath: the value of LD_LIBRARY_PATH that the program will see.
    ///   - unhooked: which functions a module without hooks has, given its path and whether it is the program.
    public static func modules(
        of program: String, libraryPath: String?, lines: Bool = false,
        unhooked: (_ path: String, _ isProgram: Bool) -> Unhooked = { _, _ in .none }
    ) -> [ReportedFunctions] {
        guard let file = try? ELFFile(path: program) else { return [] }
        var modules = [try? ReportedFunctions(file, buildID: nil, lines: lines, unhooked: unhooked(program, true))]
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            modules.append(
                try? ReportedFunctions(library, buildID: nil, lines: lines, unhooked: unhooked(library.path, false)))
            return false
        }
        return modules.compactMap { $0 }
    }
}

extension ELFFile {
    /// The functions that other modules can call, by ascending address. One that has several names is there by each.
    fileprivate func exportedFunctions() -> [ReportedFunctions.Function] {
        var found: [(address: UInt64, name: String)] = []
        forEachFunction(in: SHT_DYNSYM) { symbol, name in
            if symbol.st_shndx != UInt16(SHN_UNDEF) { found.append((symbol.st_value, name)) }
        }
        return found.sorted { ($0.address, $0.name) < ($1.address, $1.name) }.map {
            ReportedFunctions.Function(name: demangle($0.name), addresses: [$0.address])
        }
    }
}
