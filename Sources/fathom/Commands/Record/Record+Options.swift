internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceRecording
internal import TraceRequest
internal import TraceSymbols

/// What the options come to.
extension Record {
    var functionOptions: FunctionOptions {
        var options = FunctionOptions(names)
        options.triggers = triggers
        let wrappers = systemCalls.source == .functions && mode.keepsCalls ? [SystemCallFunctions.pattern] : []
        options.arguments = argumentOptions.args + wrappers
        options.results = argumentOptions.returns + wrappers
        options.conditions = flight.conditions
        options.textLimit = max(
            argumentOptions.argsLength ?? FunctionOptions.defaultTextLimit, flight.longestText)
        options.watched = watchOptions.watch
        options.watchedLevels = UInt32(watchOptions.relativeDepth ?? 0)
        options.watchesAll = watchOptions.complete
        return options
    }

    /// Who tells of system calls, and why the kernel does not.
    var systemCalls: (source: RecordOptions.SystemCallSource?, refusal: String?) {
        guard syscalls else { return (nil, nil) }
        if attaching.attach != nil { return (.functions, "it tells of programs that are started alone") }
        if mode != .trace { return (.functions, "in --mode \(mode.rawValue), the program itself counts") }
        let refusal = SystemCallTracing.refusal
        return (refusal == nil ? .kernel : .functions, refusal)
    }

    /// Says what system calls are not recorded.
    func tellSystemCalls() {
        guard let refusal = systemCalls.refusal, !quiet else { return }
        Diagnostics.say(
            "system calls are those that the program asks the C library for by name, because the kernel does not tell of all: \(refusal)"
        )
    }

    /// The functions that the options name, and those that get detours; nil where there are none. Says what was found.
    func namedFunctions(of executable: String) throws -> RecordingRequest.Functions? {
        let options = functionOptions
        let detours = try detourRequest(of: executable)
        guard !options.isEmpty || detours != nil else { return nil }
        let match = try FunctionMatch(options)
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        let lines = !options.places.isEmpty
        let unhooked = try unhookedFunctions(of: executable)
        let modules =
            options.isEmpty
            ? [] : ReportedFunctions.modules(of: executable, libraryPath: libraryPath, lines: lines, unhooked: unhooked)
        if !quiet, !options.isEmpty {
            match.lines(modules).filter { !$0.contains(SystemCallFunctions.pattern) }.forEach(Diagnostics.say)
        }
        var known: [(module: ModuleFile, functions: [NamedFunction]?)] = modules.map { module in
            var functions = match.functions(of: module)
            let problems = match.addArguments(&functions, of: module)
            if !quiet { problems.forEach(Diagnostics.say) }
            return (ModuleFile(path: module.path, buildID: module.buildID), functions)
        }
        if let detours { add(detours, to: &known, of: executable) }
        var all = match.all
        all.hasDetour = detours != nil || known.contains { $0.functions?.contains { $0.detour != nil } ?? false }
        var functions = RecordingRequest.Functions(
            all: all, known: known,
            find: { file in
                var found: [NamedFunction] = []
                if !options.isEmpty {
                    guard let match = try? FunctionMatch(options),
                        let module = try? ReportedFunctions(
                            path: file.path, buildID: file.buildID, lines: lines, unhooked: unhooked(file.path, nil))
                    else { return nil }
                    found = match.functions(of: module)
                    _ = match.addArguments(&found, of: module)
                }
                return found + (detours?.answer(file, found, isProgram: nil).functions ?? [])
            })
        functions.textLimit = options.textLimit
        functions.conditions = options.conditions.map(\.duration)
        functions.levels = options.watchedLevels
        return functions
    }

    func detourRequest(of executable: String) throws -> DetourRequest? {
        if any != nil || libcalls != nil,
            let refusal = Refusal(ofPlacesIn: executable, for: any != nil ? "--any" : "--libcalls")
        {
            throw refusal
        }
        return try any.map { try DetourRequest(of: executable, $0, modules: module, minSize: minSize) }
    }

    /// Tells which functions of a module without hooks are asked for, given its path and whether it is the program; nil: the file tells.
    func unhookedFunctions(of executable: String) throws -> @Sendable (String, Bool?) -> ReportedFunctions.Unhooked {
        let detours = try detourRequest(of: executable)
        let otherwise: ReportedFunctions.Unhooked =
            libcalls != nil || systemCalls.source == .functions ? .exported : .none
        return { path, isProgram in detours?.holds(path, isProgram: isProgram) ?? false ? .all : otherwise }
    }

    /// A program, and the libraries that it needs.
    func neededModules(of executable: String) -> [(path: String, buildID: [UInt8])] {
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        return (try? FunctionEntries.modules(of: executable, libraryPath: libraryPath)) ?? []
    }

    /// Adds the functions that get detours, of the program and of what it needs.
    private func add(
        _ detours: DetourRequest, to known: inout [(module: ModuleFile, functions: [NamedFunction]?)],
        of executable: String
    ) {
        for (index, module) in neededModules(of: executable).enumerated() {
            let place = known.firstIndex { $0.module.path == module.path }
            let file = ModuleFile(path: module.path, buildID: module.buildID)
            let named = place.flatMap { known[$0].functions } ?? []
            let answer = detours.answer(file, named, isProgram: index == 0)
            if let line = answer.line, !quiet { Diagnostics.say(line) }
            if let place {
                known[place].functions = named + answer.functions
            } else {
                known.append((file, answer.functions))
            }
        }
    }

    var recordOptions: RecordOptions {
        var options = RecordOptions()
        options.functions = functionOptions
        options.maxDepth = maxDepth
        options.minCost = minCost?.nanoseconds ?? 0
        options.maxSize = maxSize?.bytes
        options.bufferSize = Int(bufferSize.bytes)
        options.startsPaused = paused
        options.minSize = minSize
        options.budget = budget.map { Int($0.percent) }
        options.tellsMemory = memory
        options.libraryCalls = libcalls
        options.detours = any
        options.systemCalls = systemCalls.source
        options.tellsFaults = faults
        options.packsLog = compress
        options.tellsStartup = startup
        options.mode = recordsFirstCalls ? .firstCalls : mode
        options.modules = module
        // What a process that runs already may call is not known, so it is asked nothing more than its hooks need.
        options.waiting =
            switch blocked {
            case true?: .causes
            case nil where options.mode.keepsCalls && attaching.attach == nil: .times
            default: .unknown
            }
        if let maxPaths { options.maxPaths = maxPaths }
        if let interval { options.interval = interval.nanoseconds }
        flight.apply(to: &options)
        return options
    }
}
