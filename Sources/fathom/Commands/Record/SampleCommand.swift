internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceRequest
internal import TraceText
internal import TraceWatch

struct SampleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Sample the stacks of any running process, with hooks or without.",
        usage: "fathom sample [<options>] <pid>",
        discussion: """
            Of a program that is being recorded, its open calls are taken, and it is not stopped. The stacks of other programs \
            are rebuilt from their unwind tables: threads that wait are looked at as they are, and those that run are stopped for a \
            moment. The result is a session that report, graph, flame and others read, as they read profiles; its calls \
            are samples, and times are samples times the time between two looks.
            """,
        examples: [
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
        help: ArgumentHelp("Sample for so long, or until Ctrl-C (default: 10s).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var time = TimeSpan(nanoseconds: 10_000_000_000)

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: "Session directory (default: <program>-<pid>.fathom).", completion: .directory)
    var output: String?

    @Flag(
        help:
            "Rebuild stacks from unwind tables also where the program is being recorded, to see functions without hooks."
    )
    var native = false

    @Flag(name: .shortAndLong, help: "Print no summary.")
    var quiet = false

    @Argument(help: ArgumentHelp("The id of a process.", valueName: "pid"))
    var process: Int32

    func validate() throws {
        guard process > 0 else { throw ValidationError("the id of a process is a number from 1") }
        guard interval.nanoseconds >= 1_000_000 else { throw ValidationError("--interval is 1ms or longer") }
        guard time.nanoseconds > 0 else { throw ValidationError("--for is longer than 0") }
        if output?.isEmpty == true { throw ValidationError("--output names the session directory") }
    }

    func run() throws {
        try output.map(FileName.check)
        let sampler: Sampler
        do throws(Sampler.Failure) {
            sampler = try Sampler(process, usesHooks: !native)
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        Interruption.whenever([SIGINT, SIGTERM, SIGHUP]) { sampler.stop() }
        var session = SampledSession()
        let held = HeldModules()
        held.hold(filesOf: process)
        let sampled = sampler.run(every: interval.nanoseconds, for: time.nanoseconds)
        guard sampled.samples > 0 else {
            throw Diagnostics.fail("process \(process): no stack could be seen", .nothing)
        }
        let name = output ?? "\(SessionName.stem(sampled.path))-\(process).fathom"
        let bytes: UInt64
        do throws(RecordingError) {
            bytes = try session.write(sampled, into: name)
        } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        held.hold(filesOf: process)
        for module in sampled.modules { held.hold(module, of: process) }
        SessionNames.keep(in: [name], held)
        if !quiet { say(sampled, sampler, name, bytes) }
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
        Diagnostics.say("next: fathom report \(CommandText.file(name))")
    }
}
