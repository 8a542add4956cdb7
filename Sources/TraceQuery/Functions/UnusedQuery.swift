public import TraceAnalysis
public import TraceFile
public import TraceFindings
internal import TraceSymbols
internal import TraceText

/// Which functions of the programs that were run no session called.
public enum UnusedQuery {
    /// The functions that no session called, or only few did.
    ///
    /// - Parameters:
    ///   - sessions: each is a run; their calls are put together.
    ///   - module: only modules of this path or name.
    ///   - limit: functions that fewer sessions called are listed.
    ///   - listener: is told of what is wrong, and how far reading is.
    public static func unused(
        in sessions: [Session], _ options: QueryOptions, module: Pattern? = nil, calledByFewerThan limit: Int = 1,
        listener: QueryListener = QueryListener()
    ) throws(QueryError) -> Answer<UnusedFunctions> {
        var called = CalledFunctions()
        var warnings: [String] = []
        for session in sessions { warnings += try called.add(session, options, listener) }
        let changed = Set(sessions.flatMap(\.changedModules))
        var (defined, unknown): ([DefinedFunction], Int) = ([], 0)
        var (isFound, hasEntries) = (false, false)
        for found in called.modules.sorted(by: { $0.identity.path < $1.identity.path }) {
            let path = found.identity.path
            guard module.map({ $0.matches(path) || $0.matches(PathText.name(path)) }) ?? true else { continue }
            do throws(SymbolProblem) {
                let inventory = try UnusedQuery.inventory(
                    found, isChanged: changed.contains(found.identity), options)
                guard inventory.hasHooks else { continue }
                isFound = true
                if found.hasEntries { hasEntries = true }
                unknown += inventory.functions.count { !$0.isHooked && !$0.isCompilerMade }
                defined += UnusedQuery.defined(inventory, found)
                if !found.hasEntries, inventory.functions.contains(where: \.isSwift) {
                    warnings.append(
                        "\(path.visible): hooks in Swift come after inlining, so what was always inlined counts as unused; -Onone tells"
                    )
                }
            } catch {
                // A module without calls may be any library of the system's.
                if !found.runs.isEmpty { warnings.append("\(error), and are not looked at") }
            }
        }
        guard isFound else {
            warnings.forEach(listener.warn)
            throw .noModule(module?.text)
        }
        if hasEntries {
            warnings.append("first calls come after inlining: a function that is only inlined has no code to be called")
        }
        return Answer(
            UnusedFunctions(defined, unknown: unknown, runs: sessions.count, calledByFewerThan: limit),
            warnings: warnings, sessions: sessions)
    }

    private static func inventory(
        _ module: CalledFunctions.Module, isChanged: Bool, _ options: QueryOptions
    ) throws(SymbolProblem) -> FunctionInventory {
        let symbols = ModuleSymbols(
            path: module.identity.path, buildID: module.identity.buildID, isChanged: isChanged,
            symbolFiles: SymbolFiles(options.symbolFiles), rawNames: options.rawNames)
        return try FunctionInventory(
            path: module.identity.path, symbols: symbols, uses: true, entries: module.hasEntries)
    }

    /// The functions that a call could be seen of. Versions of one function are one.
    private static func defined(_ inventory: FunctionInventory, _ module: CalledFunctions.Module) -> [DefinedFunction] {
        var functions: [DefinedFunction] = []
        var callers: [Set<Int>] = []
        var places: [String: Int] = [:]
        let runsByFunction = runs(inventory, module)
        for (function, runs) in zip(inventory.functions, runsByFunction)
        where function.isHooked && !function.isCompilerMade {
            if let identity = function.identity, let place = places[identity] {
                functions[place].bytes += UInt64(function.range.count)
                functions[place].add(function.uses)
                callers[place].formUnion(runs)
                continue
            }
            if let identity = function.identity { places[identity] = functions.count }
            var defined = DefinedFunction(
                name: function.name.visible, linkageName: function.linkageName, module: module.identity.path.visible,
                file: function.file?.visible, line: function.line, bytes: UInt64(function.range.count),
                lineCount: function.lineCount)
            defined.isUnreachable = true
            defined.add(function.uses)
            defined.possibleRuns = module.sessions.count
            functions.append(defined)
            callers.append(runs)
        }
        for place in functions.indices { functions[place].runs = callers[place].count }
        return functions
    }
}

extension UnusedQuery {
    /// The sessions that called each function. Swift's hooks tell an address inside of it.
    private static func runs(_ inventory: FunctionInventory, _ module: CalledFunctions.Module) -> [Set<Int>] {
        var runs = [Set<Int>](repeating: [], count: inventory.functions.count)
        var index = 0
        for (address, sessions) in module.runs.sorted(by: { $0.key < $1.key }) {
            while index < runs.count, inventory.functions[index].range.upperBound <= address { index += 1 }
            guard index < runs.count else { break }
            if inventory.functions[index].range.contains(address) { runs[index].formUnion(sessions) }
        }
        return runs
    }
}

extension DefinedFunction {
    /// Adds what a file says of one of the function's versions.
    fileprivate mutating func add(_ uses: FunctionUses) {
        for (use, word) in [
            (FunctionUses.exported, "exported"), (.virtual, "virtual"), (.witness, "protocol witness"),
            (.addressTaken, "address taken"),
        ] where uses.contains(use) && !hiddenCallers.contains(word) {
            hiddenCallers.append(word)
        }
        isInlined = isInlined || uses.contains(.inlined)
        isUnreachable = isUnreachable && uses.contains(.unreachable)
    }
}
