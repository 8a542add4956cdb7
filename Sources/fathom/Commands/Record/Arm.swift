internal import ArgumentParser
internal import Glibc
internal import TraceAttach
internal import TraceBuild
internal import TraceFile
internal import TraceRecording
internal import TraceRequest
internal import TraceSymbols

/// `fathom arm [options] -- CMD ARGS...`
struct Arm: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a program that can be recorded at any time.",
        usage: "fathom arm [<options>] -- <program> [<arguments> ...]",
        discussion: """
            The program runs with the runtime in it, which follows its open calls and records nothing until \
            `fathom record --attach` asks for it. That needs no right to trace, unlike attaching to a program that was \
            started without Fathom. The program runs with this terminal, its own arguments, and its own exit status.
            """,
        examples: [
            ("fathom arm -- ./prog 10", "Runs ./prog 10 so that it can be recorded."),
            (
                "fathom arm --buffers . -q -- ./prog 10",
                "Keeps its buffers in this directory, and says nothing."
            ),
        ])

    @Option(
        help: ArgumentHelp(
            """
            Keep its buffers in this directory, which has to have room for what is recorded (default: XDG_RUNTIME_DIR, \
            TMPDIR or /tmp).
            """, valueName: "directory"), completion: .directory)
    var buffers: String?

    @Flag(name: .shortAndLong, help: "Do not print how to record it.")
    var quiet = false

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        if let first = command.first, ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if command.first == "--" ? command.count < 2 : command.isEmpty {
            throw ValidationError("name the program to run: fathom arm -- CMD ARGS...")
        }
        if let first = command.first, first != "--", first.hasPrefix("-") {
            throw ValidationError(
                UsageMessage.unknownOption(first, of: Arm.self, advice: "; the program to run comes after --"))
        }
        if buffers?.isEmpty == true { throw ValidationError("--buffers names a directory") }
    }

    private var place: String {
        if let buffers { return buffers }
        for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
            if let path = getenv(name).map({ String(cString: $0) }), !path.isEmpty, access(path, W_OK) == 0 {
                return path
            }
        }
        return "/tmp"
    }

    func run() throws {
        let arguments = command.first == "--" ? Array(command.dropFirst()) : command
        try buffers.map(FileName.check)
        if command.first != "--", !quiet { MisplacedOptions.tell(arguments, of: Arm.self) }
        let status: TargetStatus
        do {
            let executable = try findExecutable(arguments[0])
            var options = RecordOptions()
            options.startsPaused = true
            let mayBeTraced = ArmedProcesses.mayBeTraced
            options.opensSledsEarly = !mayBeTraced
            let session = "\(place)/\(SessionName.stem(arguments[0]))-\(getpid())\(ArmedRecorder.suffix)"
            let request = try RecordingRequest(of: executable, arguments, into: session, options)
            status = try Recorder(request, runtime: Installation.runtimeLibrary).arm(
                onStart: { pid in
                    if !quiet { Diagnostics.say("armed as process \(pid): fathom record --attach \(pid) records it") }
                }, onAsked: { pids in if mayBeTraced { ArmedProcesses.heed(pids) } })
        } catch let error as SymbolProblem {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        ProgramEnd.end(as: status)
    }
}
