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
    /// By ascending address; none when nothing in the module calls a hook.
    public let functions: [Function]

    private static let hooks = ["__cyg_profile_func_enter", "fathom_function_enter", "fathom_swift_enter"]

    /// - Parameters:
    ///   - buildID: of the module as it runs, if that is known.
    ///   - lines: whether it is asked for where functions are defined, which takes a pass over the debug information.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions), with each name demangled.
    public init(path: String, buildID: [UInt8]? = nil, lines: Bool = false) throws(SymbolProblem) {
        try self.init(ELFFile(path: path), buildID: buildID, lines: lines)
    }

    private init(_ file: borrowing ELFFile, buildID: [UInt8]?, lines: Bool) throws(SymbolProblem) {
        path = file.path
        self.buildID = file.buildID
        // The C library defines the hook that does nothing, and calls none.
        let hasHooks =
            file.namesSymbol(Self.hooks, in: SHT_DYNSYM) { $0 }
            || file.namesSymbol(Self.hooks, in: SHT_SYMTAB) { _ in true } || file.hasSleds
        guard hasHooks else {
            functions = []
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
    /// - Parameter libraryPath: the value of LD_LIBRARY_PATH that the program will see.
    public static func modules(of program: String, libraryPath: String?, lines: Bool = false) -> [ReportedFunctions] {
        guard let file = try? ELFFile(path: program) else { return [] }
        var modules = [try? ReportedFunctions(file, buildID: nil, lines: lines)]
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            modules.append(try? ReportedFunctions(library, buildID: nil, lines: lines))
            return false
        }
        return modules.compactMap { $0 }
    }
}
