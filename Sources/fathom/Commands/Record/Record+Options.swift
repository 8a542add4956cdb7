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
        options.arguments = argumentOptions.args
        options.results = argumentOptions.returns
        options.conditions = flight.conditions
        options.textLimit = max(
            argumentOptions.argsLength ?? FunctionOptions.defaultTextLimit, flight.longestText)
        options.watched = watchOptions.watch
        options.watchedLevels = UInt32(watchOptions.relativeDepth ?? 0)
        options.watchesAll = watchOptions.complete
        return options
    }

    /// The functions that the options name, nil when they name none. Says what was found.
    func namedFunctions(of executable: String) throws -> RecordingRequest.Functions? {
        let options = functionOptions
        guard !options.isEmpty else { return nil }
        let match = try FunctionMatch(options)
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        let lines = !options.places.isEmpty
        let libraries = libcalls != nil
        let modules = ReportedFunctions.modules(
            of: executable, libraryPath: libraryPath, lines: lines, libraries: libraries)
        if !quiet { match.lines(modules).forEach(Diagnostics.say) }
        let known = modules.map { module in
            var functions = match.functions(of: module)
            let problems = match.addArguments(&functions, of: module)
            if !quiet { problems.forEach(Diagnostics.say) }
            return (module: ModuleFile(path: module.path, buildID: module.buildID), functions: Optional(functions))
        }
        var functions = RecordingRequest.Functions(
            all: match.all, known: known,
            find: { file in
                guard let match = try? FunctionMatch(options),
                    let module = try? ReportedFunctions(
                        path: file.path, buildID: file.buildID, lines: lines, libraries: libraries)
                else { return nil }
                var functions = match.functions(of: module)
                _ = match.addArguments(&functions, of: module)
                return functions
            })
        functions.textLimit = options.textLimit
        functions.conditions = options.conditions.map(\.duration)
        functions.levels = options.watchedLevels
        return functions
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
