internal import TraceAnalysis
internal import TraceFile
internal import TraceSymbols
internal import TraceText

/// Joins a session's functions with the symbols of their modules; each module's are loaded once, when first needed.
final class SymbolSource {
    private var modules: [ModuleIdentity: ModuleSymbols] = [:]
    private let files: SymbolFiles
    private let rawNames: Bool
    private let joinsParts: Bool
    private let names: KeptNames?
    private let changed: Set<ModuleIdentity>
    private let libraryNames: [ModuleIdentity: [UInt64: String]]

    private let warn: (String) -> Void

    /// For what is shown of `session`.
    ///
    /// Where tasks are joined, a call of an asynchronous function is one from call to return, so its parts have one name: the
    /// compiler may have put the first into the caller.
    ///
    /// - Parameters:
    ///   - warn: is told of symbols that cannot be read.
    ///   - progress: is told how far debug information is that comes from a server, 0...1.
    init(
        for session: Session, _ options: QueryOptions, warn: @escaping (String) -> Void,
        progress: @escaping (Double) -> Void
    ) {
        files = SymbolFiles(
            options.symbolFiles, servers: DebugServers(say: warn, progress: progress), say: warn)
        rawNames = options.rawNames
        joinsParts = options.joinsTasks && options.selection.joinsTasks(of: session)
        names = SessionNames.held(by: session)
        changed = session.changedModules
        libraryNames = session.libraryNames
        self.warn = warn
    }

    /// Whether programs of the session have functions that only the compiler knows of.
    func hasCompilerMade(_ session: Session) -> Bool {
        if let names { return names.hasSwiftCode }
        let modules = Set(
            session.processes.flatMap { $0.modules.map { ModuleIdentity(path: $0.path, buildID: $0.buildID) } })
        return modules.contains { ModuleSymbols(path: $0.path, buildID: $0.buildID).hasSwiftCode }
    }

    /// A function table that takes its names from here.
    ///
    /// - Parameter lines: whether functions get the file and line of their definition, which costs more to find.
    func functions(lines: Bool) -> FunctionTable {
        FunctionTable(
            resolve: { module, address in
                guard let module else {
                    return ResolvedFunction(
                        name: "0x" + String(address, radix: 16), module: nil, file: nil, line: 0, isKnown: false)
                }
                let symbol = self.symbols(of: module).symbol(at: address, lines: lines)
                var function = ResolvedFunction(
                    name: symbol.name.visible, module: module.path.visible, file: symbol.file?.visible,
                    line: symbol.line,
                    isKnown: symbol.isKnown)
                function.size = symbol.size
                function.isCompilerMade = symbol.isCompilerMade
                function.isSwift = symbol.isSwift
                // A function may have several names, and this is the one by which it was called.
                if let name = self.libraryNames[module]?[address], name != symbol.linkageName {
                    function.name = LibraryCall.shown(name, spoken: !self.rawNames).visible
                    function.isKnown = true
                    function.isCompilerMade = false
                }
                return function
            },
            locate: { module, address in
                self.symbols(of: module).location(at: address).map { ($0.file.visible, $0.line) }
            },
            identify: { module, address in
                self.rawNames ? nil : self.symbols(of: module).identity(at: address)
            },
            divide: { module, address in
                guard let (part, name) = self.symbols(of: module).asyncPart(at: address) else { return AsyncPart() }
                let kind: AsyncPart.Kind =
                    switch part {
                    case .start: .start
                    case .resumption: .resumption
                    case .continuation: .continuation
                    }
                guard !self.rawNames, let name else { return AsyncPart(kind) }
                return AsyncPart(kind, of: name.whole, isThunk: name.kind == .thunk)
            })
    }

    /// The variable at an address in a module's file.
    func variable(at address: UInt64, in module: ModuleIdentity) -> String? {
        symbols(of: module).variable(at: address)?.visible
    }

    func keptLinkage(of module: ModuleIdentity) -> KeptModule.Linkage? {
        names?[path: module.path, buildID: module.buildID]?.linkage
    }

    private func symbols(of module: ModuleIdentity) -> ModuleSymbols {
        if let known = modules[module] { return known }
        let symbols = ModuleSymbols(
            path: module.path, buildID: module.buildID, kept: names?[path: module.path, buildID: module.buildID],
            isChanged: changed.contains(module), symbolFiles: files, rawNames: rawNames, joinsParts: joinsParts)
        if let problem = symbols.problem { warn(problem.description) }
        modules[module] = symbols
        return symbols
    }
}
