internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceRecording
internal import TraceReports
internal import TraceSymbols

/// `fathom record [options] -- CMD ARGS...`
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a program and record its calls.",
        usage: "fathom record [<options>] -- <program> [<arguments> ...]",
        discussion: """
            The program must be built with hooks, as fathom build does. It runs with this terminal, its own \
            arguments, and its own exit status. The recording is a directory that `fathom tree` reads.
            """,
        examples: [
            ("fathom record -- ./prog 10", "Runs ./prog 10 and records it into prog.fathom."),
            (
                "fathom record -F 'work*' -o part.fathom -- ./prog 10",
                "Records only these functions and what they call."
            ),
            (
                "fathom record --mode flight -o ring.fathom --when 'work>200ms' -- ./prog",
                "Keeps the newest calls in memory, and saves them whenever a call of work takes so long."
            ),
            (
                "fathom record --baseline -o once.fathom -- ./prog",
                "Runs it without recording, too: reports then take out the cost of recording."
            ),
        ])

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: "Session directory (default: <program>.fathom).", completion: .directory)
    var output: String?

    @Option(
        help: """
            trace keeps a record of each call; flight keeps the newest in memory, and saves them when there is a reason; \
            profile keeps the sums of each call path; counts keeps only how often each was called.
            """)
    var mode = RecordOptions.Mode.trace

    @Option(
        help: ArgumentHelp(
            "With --mode profile and counts, keep so many call paths; what is called below others counts there (default: 1000000).",
            valueName: "paths"))
    var maxPaths: Int?

    @OptionGroup(title: "Flight recorder") var flight: FlightOptions

    @Option(
        name: [.customShort("D", allowingJoined: true), .customLong("max-depth")],
        help: "Record no deeper calls; roots are depth 0.")
    var maxDepth: Int?

    @Option(
        name: [.customShort("t", allowingJoined: true), .customLong("min-cost")],
        help: "Leave out shorter calls, as 10us or 1.5ms.", transform: TimeSpan.init(argument:))
    var minCost: TimeSpan?

    @OptionGroup(title: "Functions") var names: NameOptions

    @OptionGroup(title: "Watch list") var watchOptions: WatchOptions

    @Option(
        name: [.customShort("T", allowingJoined: true), .customLong("trigger")],
        help: ArgumentHelp(
            """
            What to do when a call of these functions begins: start, stop, save, mark, or, for what it calls, depth=N or \
            min-cost=TIME; several with commas.
            """, valueName: "glob@action"))
    var triggers: [String] = []

    @OptionGroup(title: "Arguments") var argumentOptions: ArgumentOptions

    @Option(
        help: "Stop recording at this size of the trace, as 500M or 2G.", transform: ByteCount.init(argument:))
    var maxSize: ByteCount?

    @Option(
        help: "Size of one buffer, a power of two from 16K to 4M.", transform: ByteCount.init(argument:))
    var bufferSize: ByteCount = ByteCount(bytes: UInt64(RecordOptions.defaultBufferSize))

    @Flag(
        help: """
            Run the program once more without recording, a few times when it is short, with its output to /dev/null, so \
            that reports can take out what recording cost.
            """)
    var baseline = false

    @Flag(help: "Start without recording, until the program starts it by fathom.h or `import Fathom`.")
    var paused = false

    @Flag(
        help: """
            Find out when threads wait, or have no CPU, and for what: `fathom report --times all`, `fathom waits`.
            """)
    var blocked = false

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    @Flag(help: "Run a program that is not instrumented itself, for the instrumented ones that it starts.")
    var force = false

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        // Because the rest is passed through, these two have to be looked for here.
        if let first = command.first, ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if command.first == "--version" { throw CleanExit.message(Recorder.version) }
        if command.first == "--" ? command.count < 2 : command.isEmpty {
            throw ValidationError("name the program to record: fathom record -- CMD ARGS...")
        }
        if let first = command.first, first != "--", first.hasPrefix("-") {
            throw ValidationError(
                UsageMessage.unknownOption(
                    first, of: Record.self, advice: "; the program to record comes after --"))
        }
        if output?.isEmpty == true { throw ValidationError("--output names the session directory") }
        if let maxDepth, maxDepth < 0 { throw ValidationError("--max-depth is a number from 0") }
        if !names.callerFilter.isEmpty, !watchOptions.watch.isEmpty {
            throw ValidationError("--watch keeps what --caller-filter does, and more: take one of them")
        }
        do { _ = try FunctionMatch(functionOptions) } catch let error as any CustomStringConvertible & Error {
            throw ValidationError(error.description)
        }
        if mode == .flight, maxSize != nil {
            throw ValidationError("--max-size is for --mode trace; flight has --keep")
        }
        if mode != .trace, blocked { throw ValidationError("--blocked is for --mode trace") }
        try checkPaths()
        if mode == .flight, baseline { throw ValidationError("--baseline is for --mode trace") }
        let size = bufferSize.bytes
        guard RecordOptions.bufferSizes.contains(Int(clamping: size)), size & (size - 1) == 0 else {
            throw ValidationError("--buffer-size is a power of two from 16K to 4M")
        }
        try flight.check(mode, bufferSize: Int(size))
    }

    /// Says what does not go together with sums of call paths.
    private func checkPaths() throws {
        if !mode.keepsPaths {
            if maxPaths != nil { throw ValidationError("--max-paths is for --mode profile and --mode counts") }
            return
        }
        if let maxPaths, !(1...RecordOptions.mostPaths).contains(maxPaths) {
            throw ValidationError("--max-paths is a number from 1 to \(RecordOptions.mostPaths)")
        }
        let given: [(String, Bool)] = [
            ("--max-depth", maxDepth != nil), ("--min-cost", minCost != nil), ("--max-size", maxSize != nil),
            ("naming functions", !functionOptions.isEmpty), ("--baseline", baseline && mode == .counts),
        ]
        if let (name, _) = given.first(where: \.1) {
            throw ValidationError("\(name) is not for --mode \(mode.rawValue)")
        }
    }

    func run() throws {
        let arguments = command.first == "--" ? Array(command.dropFirst()) : command
        for name in [output, arguments[0]] { try name.map(FileName.check) }
        let summary: RecordingSummary
        let executable: String
        do {
            executable = try findExecutable(arguments[0])
            var request = try RecordingRequest(
                of: executable, arguments, into: output ?? SessionName.of(arguments[0]), recordOptions, force: force)
            request.measuresBaseline = baseline
            if mode == .flight { request.flight = flight.plan(isQuiet: quiet) }
            if !flight.when.isEmpty, !quiet {
                let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
                flight.warnings(ReportedFunctions.modules(of: executable, libraryPath: libraryPath))
                    .forEach(Diagnostics.say)
            }
            request.functions = try namedFunctions(of: executable)
            summary = try Recorder(request, runtime: Installation.runtimeLibrary).run { _exit(0) }
        } catch let error as SymbolProblem {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        if !quiet {
            for (path, functions) in (try? hookedModules(of: executable)) ?? [] where functions.hookedCount > 0 {
                Diagnostics.say(
                    HooksReport.summary(path: path, hooked: functions.hookedCount, of: functions.functions.count))
            }
            SummaryText(summary).lines.forEach(Diagnostics.say)
        }
        ProgramEnd.end(as: summary.status)
    }

    private var functionOptions: FunctionOptions {
        var options = FunctionOptions(names)
        options.triggers = triggers
        options.arguments = argumentOptions.args
        options.textLimit = argumentOptions.argsLength ?? FunctionOptions.defaultTextLimit
        options.watched = watchOptions.watch
        options.watchedLevels = UInt32(watchOptions.relativeDepth ?? 0)
        options.watchesAll = watchOptions.complete
        return options
    }

    /// The functions that the options name, nil when they name none. Says what was found.
    private func namedFunctions(of executable: String) throws -> RecordingRequest.Functions? {
        let options = functionOptions
        guard !options.isEmpty else { return nil }
        let match = try FunctionMatch(options)
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        let modules = ReportedFunctions.modules(of: executable, libraryPath: libraryPath)
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
                    let module = try? ReportedFunctions(path: file.path, buildID: file.buildID)
                else { return nil }
                var functions = match.functions(of: module)
                _ = match.addArguments(&functions, of: module)
                return functions
            })
        functions.textLimit = options.textLimit
        functions.levels = options.watchedLevels
        return functions
    }

    private var recordOptions: RecordOptions {
        var options = RecordOptions()
        options.functions = functionOptions
        options.maxDepth = maxDepth
        options.minCost = minCost?.nanoseconds ?? 0
        options.maxSize = maxSize?.bytes
        options.bufferSize = Int(bufferSize.bytes)
        options.startsPaused = paused
        options.tellsWaits = blocked
        options.mode = mode
        if let maxPaths { options.maxPaths = maxPaths }
        flight.apply(to: &options)
        return options
    }
}
