internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceBuild
internal import TraceFile
internal import TraceHistory
internal import TraceQuery
internal import TraceRecording
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText

/// `fathom record [options] -- CMD ARGS...`
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a program and record its calls.",
        usage: """
            fathom record [<options>] -- <program> [<arguments> ...]
            fathom record [<options>] --attach <pid> [--for <time>]
            """,
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
                "Keeps the newest calls in memory, and saves them whenever a call of work takes longer."
            ),
            (
                "fathom record --baseline -o once.fathom -- ./prog",
                "Runs it without recording, too: reports then take out the cost of recording."
            ),
            (
                "fathom record --libcalls -o calls.fathom -- ls",
                "Records the calls of library functions, of a program as it is shipped."
            ),
            (
                "fathom record --first-calls -o first.fathom -- ./shipped",
                "Records when each function was called first, for fathom order and fathom unused."
            ),
        ])

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: "Session directory (default: <program>.fathom).", completion: .directory)
    var output: String?

    @Option(
        help: """
            trace keeps a record of each call; flight keeps the newest in memory, and saves them when there is a reason; \
            profile keeps the sums of each call path; counts keeps only how often each was called; stack looks at an \
            interval at which calls are open; first-calls is --first-calls.
            """)
    var mode = RecordOptions.Mode.trace

    @Flag(
        help: """
            Record the first call of each function, of any program with symbols: hooks are not needed, and what was called once \
            runs as before.
            """)
    var firstCalls = false

    @Option(
        help: ArgumentHelp(
            "With --first-calls, modules by path or name (default: the program and libraries that are not the system's).",
            valueName: "glob|/regex/"))
    var module: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --mode profile, counts and stack: the number of call paths that are kept (default: 1000000). A call beyond that counts with its nearest caller that has a path.",
            valueName: "paths"))
    var maxPaths: Int?

    @Option(
        help: ArgumentHelp("How often --mode stack looks (default: 1ms).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var interval: TimeSpan?

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
            When a call of these functions begins: start, stop or save the recording, or mark the moment. trace keeps the call, \
            however short; hide leaves it out; depth=N and min-cost=TIME are limits for what it calls. Several with commas.
            """, valueName: "function@action"), completion: .function)
    var triggers: [String] = []

    @OptionGroup(title: "Arguments") var argumentOptions: ArgumentOptions

    @Option(
        help: "Stop recording at this size of the trace, as 500M or 2G.", transform: ByteCount.init(argument:))
    var maxSize: ByteCount?

    @Flag(
        help:
            "Write the trace packed, as fathom pack does: some 20 times less, for at most 8 ns more of fathom's own time a call."
    )
    var compress = false

    @Option(
        help: "Size of one buffer, a power of two from 16K to 4M.", transform: ByteCount.init(argument:))
    var bufferSize: ByteCount = ByteCount(bytes: UInt64(RecordOptions.defaultBufferSize))

    @Option(
        name: [.customShort("Z", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Leave the sleds of functions closed that have less code, in bytes (fathom build --dormant).",
            valueName: "bytes"))
    var minSize: Int?

    @Option(
        help: ArgumentHelp(
            "Close the sleds of the functions that are called most while recording costs a thread more (fathom build --dormant).",
            valueName: "percent"), transform: Percentage.init(argument:))
    var budget: Percentage?

    @Flag(
        help: """
            Run the program once more without recording, a few times when it is short, with its output to /dev/null, so \
            that reports can take out what recording cost.
            """)
    var baseline = false

    @Flag(
        help: """
            Record nothing until the program starts recording by fathom.h or `import Fathom`, or fathom ctl SESSION start does.
            """)
    var paused = false

    @Flag(
        inversion: .prefixedNo,
        help: """
            Find out what threads wait for, too, and who ends that: `fathom waits`. Without either, only when they wait is \
            found out, where recording keeps single calls; with --no-blocked, not even that.
            """)
    var blocked: Bool?

    @Flag(
        help: """
            Record what memory is allocated and freed, by malloc and its like, new, and mmap: `fathom report --sort live`, \
            `fathom flame --memory bytes`.
            """)
    var memory = false

    @Option(
        defaultAsFlag: "*", parsing: .next,
        help: ArgumentHelp(
            """
            Record the calls of functions of other libraries, too, of any program: hooks are not needed. --libcalls='str*' \
            records those of such names.
            """, valueName: "glob"))
    var libcalls: String?

    @Option(
        defaultAsFlag: "*", parsing: .next,
        help: ArgumentHelp(
            """
            Record the calls of functions without hooks, too, of a program as it is: the program and its own libraries, or those of \
            --module. --any='str*' records those of such names.
            """, valueName: "glob"))
    var any: String?

    @Flag(
        help: """
            Record system calls, too, with their arguments, results and errors, below the calls that make them, of any program: as the \
            kernel tells of them, for root; for others those that the program asks the C library for.
            """)
    var syscalls = false

    @Flag(
        help: """
            Ask the kernel for the program's page faults: `fathom report --sort minor`, `fathom flame --faults major`.
            """)
    var faults = false

    @Flag(
        help: """
            Find out how the program starts: how long the kernel, the loader and each initializer take until main is called, also of a \
            program without hooks, for `fathom startup`.
            """)
    var startup = false

    @Option(
        help: ArgumentHelp("Add the run to this history, as fathom history add does.", valueName: "file"),
        completion: .file())
    var history: String?

    @OptionGroup var labels: LabelOptions

    @OptionGroup(title: "Attaching") var attaching: AttachOptions

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    @Flag(
        help:
            "Run a program that has no hooks itself, for those with hooks that it starts; shells, make and scripts need no --force."
    )
    var force = false

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        // Because the rest is passed through, these two have to be looked for here.
        if attaching.attach == nil, attaching.time != nil { throw ValidationError("--for goes with --attach") }
        if let first = command.first, ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if command.first == "--version" { throw CleanExit.message(Recorder.version) }
        if attaching.attach != nil {
            try checkAttaching()
        } else if command.first == "--" ? command.count < 2 : command.isEmpty {
            throw ValidationError("name the program to record: fathom record -- CMD ARGS...")
        }
        if let first = command.first, first != "--", first.hasPrefix("-") {
            throw ValidationError(
                UsageMessage.unknownOption(
                    first, of: Record.self, advice: "; the program to record comes after --"))
        }
        if history == nil, !labels.label.isEmpty { throw ValidationError("--label is for --history") }
        if history?.isEmpty == true { throw ValidationError("--history names a file") }
        if output?.isEmpty == true { throw ValidationError("--output names the session directory") }
        try checkMode()
        if let maxDepth, maxDepth < 0 { throw ValidationError("--max-depth is a number from 0") }
        if !names.callerFilter.isEmpty, !watchOptions.watch.isEmpty {
            throw ValidationError("--watch keeps what --caller-filter does, and more: take one of them")
        }
        do { _ = try FunctionMatch(functionOptions) } catch let error as any CustomStringConvertible & Error {
            throw ValidationError(error.description)
        }
        if let minSize, !(1...65535).contains(minSize) {
            throw ValidationError("--min-size is a number of bytes from 1 to 65535")
        }
        if let budget, !(1...100).contains(budget.percent) || budget.percent.rounded() != budget.percent {
            throw ValidationError("--budget is a whole number of percent from 1 to 100")
        }
        if let libcalls,
            libcalls.isEmpty || libcalls.contains("/") || libcalls.utf8.count > RecordOptions.longestLibraryPattern
        {
            throw ValidationError(
                "--libcalls=GLOB takes names of functions, as 'str*', of at most \(RecordOptions.longestLibraryPattern) bytes; "
                    + "the program to record comes after --")
        }
        if let interval, !RecordOptions.intervals.contains(interval.nanoseconds) {
            throw ValidationError("--interval is a time from 100us to 1s")
        }
        if let maxPaths, !(1...RecordOptions.mostPaths).contains(maxPaths) {
            throw ValidationError("--max-paths is a number from 1 to \(RecordOptions.mostPaths)")
        }
        for pattern in module { _ = try namePattern(pattern) }
        let size = bufferSize.bytes
        guard RecordOptions.bufferSizes.contains(Int(clamping: size)), size & (size - 1) == 0 else {
            throw ValidationError("--buffer-size is a power of two from 16K to 4M")
        }
        try flight.check(bufferSize: Int(size))
    }

    var recordsFirstCalls: Bool { firstCalls || mode == .firstCalls }

    /// Says which of the options that are given does not go with the mode, or not with attaching.
    private func checkMode() throws {
        let given: [(String, Bool)] =
            [
                ("--first-calls", recordsFirstCalls), ("--module", !module.isEmpty && any == nil),
                ("--max-paths", maxPaths != nil),
                ("--interval", interval != nil), ("--max-depth", maxDepth != nil), ("--min-cost", minCost != nil),
                ("naming functions", !functionOptions.isEmpty || recordsFirstCalls && watchOptions.complete),
                ("--max-size", maxSize != nil), ("--compress", compress), ("--budget", budget != nil),
                ("--baseline", baseline), ("--blocked", blocked == true), ("--memory", memory),
                ("--libcalls", libcalls != nil), ("--any", any != nil),
                ("--syscalls", syscalls), ("--faults", faults),
                ("--startup", startup), ("--paused", paused), ("--force", force), ("--history", history != nil),
            ] + flight.given
        if firstCalls, mode != .trace, mode != .firstCalls {
            throw ValidationError("--mode \(mode.rawValue) is not for --first-calls")
        }
        let mode = recordsFirstCalls ? RecordOptions.Mode.firstCalls : mode
        for (option, _) in given.filter(\.1) {
            if let refusal = mode.refusal(of: option, attaches: attaching.attach != nil) {
                throw ValidationError(refusal)
            }
        }
    }

    func run() throws {
        if let process = attaching.attach { return try record(process) }
        let arguments = command.first == "--" ? Array(command.dropFirst()) : command
        for name in [output, history] { try name.map(FileName.check) }
        if !quiet { MisplacedOptions.tell(arguments, of: Record.self) }
        let history = try openedHistory()
        let summary: RecordingSummary
        let executable: String
        var hasNames = true
        do {
            executable = try findExecutable(arguments[0])
            tellSystemCalls()
            var request = try RecordingRequest(
                of: executable, arguments, into: output ?? SessionName.of(arguments[0]), recordOptions,
                force: force || startup)
            request.measuresBaseline = baseline
            if mode == .flight { request.flight = flight.plan(isQuiet: quiet) }
            if !flight.when.isEmpty, !quiet {
                let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
                flight.warnings(
                    ReportedFunctions.modules(
                        of: executable, libraryPath: libraryPath, unhooked: try unhookedFunctions(of: executable))
                )
                .forEach(Diagnostics.say)
            }
            if recordsFirstCalls {
                let traps = try FirstCallRequest(of: executable, module)
                if !quiet { traps.lines.forEach(Diagnostics.say) }
                request.functions = traps.functions
                hasNames = traps.hasNames
            } else {
                request.functions = try namedFunctions(of: executable)
            }
            summary = try Recorder(request, runtime: Installation.runtimeLibrary).run { _exit(0) }
        } catch let error as SymbolProblem {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        if !quiet { say(summary, of: executable, hasNames) }
        if let history, !add(summary, to: history), summary.status == .exited(0) {
            throw ExitCode(RecordingError.ownStatus)
        }
        ProgramEnd.end(as: summary.status)
    }

    /// What is said at the end.
    ///
    /// - Parameter hasNames: whether the functions whose first calls were recorded have names.
    private func say(_ summary: RecordingSummary, of executable: String, _ hasNames: Bool) {
        if recordsFirstCalls {
            if let choice = try? ChosenModules(module), let session = try? Session(path: summary.session) {
                FirstCallRequest.refusals(session, choice).forEach(Diagnostics.say)
            }
        } else {
            tellHooks(of: executable, in: summary.session)
            if any != nil { tellDetours(of: executable, in: summary.session) }
        }
        if memory, let session = try? Session(path: summary.session, readsCalls: false) {
            session.unseenMemory.forEach { Diagnostics.say("warning: \($0)") }
        }
        var options = SummaryText.Options()
        (options.isFirst, options.hasNames) = (recordsFirstCalls, hasNames)
        options.hasHooks = summary.calls > 0 || Refusal.hasHooks(executable)
        options.hasLibraryCalls = libcalls != nil || syscalls
        options.hasDetours = any != nil
        options.onTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        SummaryText(summary, options).lines.forEach(Diagnostics.say)
    }

    /// Says how many functions of the program and its libraries have hooks, or which of their sleds were open; `info` has the latter
    /// of all processes.
    private func tellHooks(of executable: String, in session: String) {
        let modules = (try? hookedModules(of: executable)) ?? []
        let asksForSleds = budget != nil || minSize != nil
        var sleds: [(path: String, counts: SledCounts)] = []
        if asksForSleds || modules.contains(where: \.functions.hasSleds),
            let processes = (try? Session(path: session, readsCalls: false))?.processes
        {
            let all = processes.map { $0.modules.compactMap { module in module.sleds.map { (module.path, $0) } } }
            sleds = all.first ?? []
            if asksForSleds, any == nil, all.allSatisfy(\.isEmpty) {
                Diagnostics.warn(
                    "\(budget != nil ? "--budget" : "--min-size") closes sleds, and \(PathText.name(executable)) has none: "
                        + "fathom build --dormant makes them")
            }
        }
        for (path, functions) in modules where functions.functions.isEmpty {
            Diagnostics.warn(
                "\(PathText.name(path)) has no symbols, so its functions are shown as addresses; link it without -s, and do not "
                    + "strip it")
        }
        for (path, functions) in modules where functions.hookedCount > 0 {
            // Functions with sleds are told of below, where each version that the compiler made of one counts.
            let counted = sleds.first { PathText.name($0.path) == PathText.name(path) }?.counts.functions ?? 0
            guard functions.hookedCount > counted else { continue }
            Diagnostics.say(
                HooksReport.summary(
                    path: path, hooked: functions.hookedCount, of: functions.functions.count,
                    includesLibraries: functions.includesLibraries))
        }
        var said: Set<String> = []
        for (path, counts) in sleds {
            // A library may have been loaded more than once.
            let line = SledsText.line(counts, of: path)
            if said.insert(line).inserted { Diagnostics.say(line) }
        }
        let options = functionOptions
        guard !said.isEmpty, !(options.only + options.without + options.leadingTo).isEmpty else { return }
        Diagnostics.say(
            "-F, -N and -C keep all sleds open, because what is called below those functions shows only then; -H closes sleds"
        )
    }

    /// Says which modules got no detours although their functions are fit, in any process, and which of those that were found later
    /// can have none.
    private func tellDetours(of executable: String, in session: String) {
        guard let session = try? Session(path: session, readsCalls: false) else { return }
        let lines = session.processes.flatMap(\.modules).compactMap { module in
            module.detours.flatMap { $0.failure == nil ? nil : DetoursText.line($0, of: module.path) }
        }
        let known = neededModules(of: executable).map { PathText.name($0.path) }
        let refusals = (try? detourRequest(of: executable))?.refusals(session, besides: Set(known)) ?? []
        (Set(lines).sorted() + refusals).forEach(Diagnostics.say)
    }

    /// The history that the run is to be added to. One that cannot be written is told before the program runs.
    private func openedHistory() throws -> HistoryStore? {
        do throws(HistoryError) {
            return try history.map { path throws(HistoryError) in
                let store = try HistoryStore(path: path, creates: true)
                try store.requireWritable()
                return store
            }
        } catch {
            throw Diagnostics.fail(error.description, status: RecordingError.ownStatus)
        }
    }

    /// Adds the run to a history, which then is whole in its one file. False when it cannot be added: then a command whose program
    /// ended well does not.
    private func add(_ summary: RecordingSummary, to history: HistoryStore) -> Bool {
        if summary.isContinued {
            Diagnostics.warn(
                "\(history.path): the run is not over, so it is not added: fathom history add \(CommandText.file(summary.session)) does that later"
            )
            return true
        }
        defer { history.close() }
        do {
            let read = try SessionRun(
                openSession(summary.session), labels: labels.label.map { ($0.name, $0.value) },
                listener: Diagnostics.listener())
            let (id, _) = try history.add(read.run, read.content)
            if !quiet { Diagnostics.say("\(history.path): added as run \(id)") }
            return true
        } catch {
            _ = Diagnostics.ended(by: error)
            Diagnostics.warn("\(history.path): the run is not added")
            return false
        }
    }
}
