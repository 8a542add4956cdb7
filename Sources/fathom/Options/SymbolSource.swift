internal import TraceAnalysis
internal import TraceFormat
internal import TraceSymbols

/// Joins a session's functions with the symbols of their modules; each module's are loaded once, when first needed.
final class SymbolSource {
    private var modules: [ModuleIdentity: ModuleSymbols] = [:]

    /// A function table that takes its names from here.
    ///
    /// - Parameter lines: whether functions get the file and line of their definition, which costs more to find.
    func functions(lines: Bool) -> FunctionTable {
        FunctionTable(
            resolve: { module, address in
                guard let module else {
                    return ResolvedFunction(name: "0x" + String(address, radix: 16), module: nil, file: nil, line: 0)
                }
                let symbol = self.symbols(of: module).symbol(at: address, lines: lines)
                return ResolvedFunction(name: symbol.name, module: module.path, file: symbol.file, line: symbol.line)
            },
            locate: { module, address in self.symbols(of: module).location(at: address) })
    }

    private func symbols(of module: ModuleIdentity) -> ModuleSymbols {
        if let known = modules[module] { return known }
        let symbols = ModuleSymbols(path: module.path, buildID: module.buildID)
        if let problem = symbols.problem { Diagnostics.warn(problem.description) }
        modules[module] = symbols
        return symbols
    }
}
