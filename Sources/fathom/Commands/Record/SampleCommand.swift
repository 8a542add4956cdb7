internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceRequest
internal import TraceText
internal import TraceWatch

/// `fathom sample [options] PID` and `fathom sample [options] -- CMD ARGS...`
struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Sample the stacks of a program, with hooks or without.",
        usage: """
            fathom sample [<options>] -- <program> [<arguments> ...]
            fathom sample [<options>] <pid>
            """,
        discussion: """
            Of a program that is being recorded, its open calls are taken, and it is not stopped. The stacks of other programs \
            are rebuilt from their unwind tables: threads that wait are looked at as they are, and those that run are stopped for a \
            moment. The result is a session that report, graph, flame and others read, as they read profiles; its calls \
            are samples, and times are samples times the time between two looks. A program that is started runs with this \
            terminal, its own arguments, and its own exit status; the programs that it starts are not sampled.
            """,
        examples: [
            ("fathom sample -o stacks.fathom -- ./prog 10", "Runs ./prog 10 and samples it until it ends."),
            ("fathom sample --for 100ms $$", "Samples the shell for a tenth of a second."),
            (
                "fathom sample --for 100ms --interval 1ms -o shell.fathom $$",
                "Does so once a millisecond, into a session of that name."
            ),
        ])

    @Option(
        help: ArgumentHelp("Look so often (default: 10ms).", valueName: "time"), transform: TimeSpan.init(argument:))
    var interval = TimeSpan(nanoseconds: 10_000_000)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Sample for so long, or until Ctrl-C (default: 10s; a program that is started, until it ends).",
            valueName: "time"),
        transform: TimeSpan.init(argument:))
    var time: TimeSpan?

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: "Session directory (default: <program>.fathom, or <program>-<pid>.fathom).", completion: .directory)
    var output: String?

    @Flag(
        help:
            "Rebuild stacks from unwind tables also where the program is being recorded, to see functions without hooks."
    )
    var native = false

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    @Argument(help: ArgumentHelp("The id of a process.", valueName: "pid"))
    var process: String?

    @Argument(parsing: .postTerminator, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        switch (process, command.first) {
        case (nil, nil):
            throw ValidationError("name what to sample: fathom sample -- CMD ARGS..., or the id of a process")
        case (_?, _?): throw ValidationError("a process and a program exclude each other")
        case (let process?, nil):
            guard let number = Int32(process) else {
                let program = CommandText.file(process)
                throw ValidationError(
                    "'\(process)' is not the id of a process; a program to start comes after --: fathom sample -- \(program)"
                )
            }
            guard number > 0 else { throw ValidationError("the id of a process is a number from 1") }
        default: break
        }
        guard interval.nanoseconds >= 1_000_000 else { throw ValidationError("--interval is 1ms or longer") }
        guard time?.nanoseconds != 0 else { throw ValidationError("--for is longer than 0") }
        if output?.isEmpty == true { throw ValidationError("--output names the session directory") }
    }

    func run() throws {
        try output.map(FileName.check)
        if let process = process.flatMap({ Int32($0) }) { return try sample(process) }
        let program: StartedProgram
        do throws(RecordingError) {
            program = try StartedProgram(findExecutable(command[0]), command)
        } catch {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        ProgramEnd.end(as: sample(program))
    }

    private func sample(_ process: Int32) throws {
        let sampler: Sampler
        do throws(Sampler.Failure) {
            sampler = try Sampler(process, usesHooks: !native)
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        Interruption.whenever([SIGINT, SIGTERM, SIGHUP]) { sampler.stop() }
        let sampling = Sampling(sampler, of: process)
        sampling.run(every: interval.nanoseconds, for: time?.nanoseconds ?? 10_000_000_000)
        guard sampling.sampled.samples > 0 else {
            throw Diagnostics.fail("process \(process): no stack could be seen", .nothing)
        }
        do throws(RecordingError) {
            try keep(sampling, in: output ?? "\(SessionName.stem(sampling.sampled.path))-\(process).fathom")
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }

    /// Samples a program until it ends. It is not the program's fault if that fails, so its status is the same then.
    private func sample(_ program: StartedProgram) -> TargetStatus {
        let sampler: Sampler
        do throws(Sampler.Failure) {
            sampler = try SampleCommand.sampler(of: program.pid)
        } catch {
            let isOver = error == .noProcess(program.pid)
            Diagnostics.warn(isOver ? tooShort : "\(command[0]) is not sampled: \(error)")
            return program.wait()
        }
        let sampling = Sampling(sampler, of: program.pid)
        let (interval, time) = (interval.nanoseconds, time?.nanoseconds ?? .max)
        let thread = BackgroundThread { sampling.run(every: interval, for: time) }
        let status = program.wait()
        sampler.stop()
        thread.join()
        guard sampling.sampled.samples > 0 else {
            Diagnostics.warn(tooShort)
            return status
        }
        do throws(RecordingError) {
            try keep(sampling, in: output ?? SessionName.of(command[0]))
        } catch {
            Diagnostics.warn("no session: \(error)")
        }
        return status
    }

    private var tooShort: String {
        "\(command[0]) ended before a stack could be seen; --interval 1ms looks most often"
    }

    /// A sampler of a program that has just been started. For a moment nothing of it is mapped.
    private static func sampler(of pid: Int32) throws(Sampler.Failure) -> Sampler {
        for _ in 0..<200 {
            if let sampler = try? Sampler(pid) { return sampler }
            usleep(1000)
        }
        return try Sampler(pid)
    }

    /// Writes what was sampled, with the names.
    private func keep(_ sampling: Sampling, in name: String) throws(RecordingError) {
        let (bytes, setAside) = try sampling.session.write(sampling.sampled, into: name)
        sampling.holdModules()
        SessionNames.keep(in: [name], sampling.held)
        if quiet { return }
        say(sampling.sampled, sampling.sampler, name, bytes)
        if let setAside { Diagnostics.say(SummaryText.setAside(setAside)) }
        Diagnostics.say("next: fathom report \(CommandText.file(name))")
    }

    private func say(_ sampled: SampledProcess, _ sampler: Sampler, _ name: String, _ bytes: UInt64) {
        Diagnostics.say(
            "took \(CountText.counted(sampled.samples, "sample")) of \(CountText.counted(UInt64(sampled.threads.count), "thread")) in "
                + "\(CountText.counted(sampled.looks, "look")) within \(String(time: sampled.duration)): "
                + "\(CountText.size(bytes)) in \(name)"
                + (sampler.isTraced ? "; these are the calls that hooks told of" : ""))
        if sampled.period > 2 * interval.nanoseconds {
            Diagnostics.warn("looks took longer than the interval: there was one each \(String(time: sampled.period))")
        }
        if sampler.missed > 0 {
            Diagnostics.warn(
                "\(CountText.counted(sampler.missed, "sample")) of threads that could not be looked at are missing")
        }
        if sampler.seesOnlyWaiting {
            Diagnostics.warn(
                "running threads could not be stopped (a debugger has them, or the system's rules deny it), so only those that waited were seen"
            )
        }
    }
}

/// A process while it is sampled, and the files of its modules, which are held open so that they can be read when others are in their
/// places.
private final class Sampling: @unchecked Sendable {
    let sampler: Sampler
    let held = HeldModules()
    var session = SampledSession()
    private let process: Int32
    private(set) var sampled: SampledProcess

    init(_ sampler: Sampler, of process: Int32) {
        self.sampler = sampler
        self.process = process
        sampled = SampledProcess(pid: process, path: "", arguments: [])
        held.hold(filesOf: process)
    }

    func run(every interval: UInt64, for time: UInt64) { sampled = sampler.run(every: interval, for: time) }

    /// Holds what has been loaded since.
    func holdModules() {
        held.hold(filesOf: process)
        for module in sampled.modules { held.hold(module, of: process) }
    }
}
