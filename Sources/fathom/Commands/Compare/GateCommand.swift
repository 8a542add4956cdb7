internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceHistory
internal import TraceRecording
internal import TraceReports
internal import TraceRequest
internal import TraceText

struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Run a program and fail when it is slower, or makes more calls, than it used to.",
        usage: """
            fathom gate [<options>] --against <history> -- <command> ...
            fathom gate [<options>] --against <session> ... -- <command> ...
            fathom gate [<options>] --baseline-cmd <command> -- <command> ...
            """,
        discussion: """
            The program is recorded as often as it takes to tell, or until --budget is used up. With --counts, numbers of calls are \
            compared, for which one run does.
            """,
        examples: [
            (
                "fathom gate --counts --against before.fathom -- ./prog 10",
                "Ends with status 1 when any function is called more often than then."
            ),
            (
                "fathom gate --counts --baseline-cmd './prog 10' -- ./prog 10",
                "Runs another build first, and compares with that."
            ),
        ])

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("What it is compared with: a history, or sessions.", valueName: "history|session"),
        completion: .session)
    var against: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run this, too, by turns, and compare with it: a line for the shell, which begins with a program.",
            valueName: "command"))
    var baselineCmd: String?

    @Flag(help: "Compare how often each function is called, which one run tells.")
    var counts = false

    @Option(
        help: ArgumentHelp(
            "How much more is allowed (default: 5%, of time; 0%, of calls).", valueName: "percent"),
        transform: Growth.init(argument:))
    var maxRegress: Growth?

    @Option(name: .customLong("p"), help: ArgumentHelp("Compare this percentile of the runs.", valueName: "percent"))
    var percent = 50.0

    @Option(
        name: .customLong("of"),
        help: ArgumentHelp(
            "What of the runs: total, a function, a call path as 'main;parse', 'mark NAME', 'cpu time', instructions, or 'phase NAME' and 'initializer NAME' of the start.",
            valueName: "subject"),
        completion: .subject)
    var subject = "total"

    @Option(
        help: ArgumentHelp("Run it no longer than this, as 60s or 500ms.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var budget: TimeSpan?

    @OptionGroup(title: "Runs of a history") var runs: RunOptions
    @OptionGroup var symbols: SymbolOptions

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp(
            "How to write the summary (default: as the file's ending says, md, json, txt, or xml for JUnit's; else text on a terminal, and markdown elsewhere)."
        ))
    var format: GateReport.Format?

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp("Write the summary to this file.", valueName: "file"), completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Also write a test result, in JUnit's XML.", valueName: "file"), completion: .file())
    var junit: String?

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    private static let budget: UInt64 = 60_000_000_000

    private var words: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

    func validate() throws {
        // Because the rest is passed through, these two have to be looked for here.
        if let first = command.first, ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if let first = command.first, first != "--", first.hasPrefix("-") {
            throw ValidationError(
                UsageMessage.unknownOption(first, of: GateCommand.self, advice: "; the program to run comes after --"))
        }
        if words.isEmpty {
            throw ValidationError("name the program to run: fathom gate --against HISTORY -- CMD ARGS...")
        }
        if against.isEmpty, baselineCmd == nil {
            throw ValidationError("say what to compare with: --against or --baseline-cmd")
        }
        if !against.isEmpty, baselineCmd != nil {
            throw ValidationError("--against and --baseline-cmd exclude each other")
        }
        if baselineCmd?.isEmpty == true { throw ValidationError("--baseline-cmd names a command") }
        guard percent > 0, percent < 100 else { throw ValidationError("--p is a percentile between 0 and 100") }
        if counts, subject != "total" {
            throw ValidationError("--of is not for --counts, which looks at every function")
        }
        if case .counter = HistorySubject(subject) { throw ValidationError("--of is a time, and a counter is none") }
        for path in against + [output, junit].compactMap({ $0 }) { try FileName.check(path) }
    }

    func run() throws {
        let result: GateResult
        do {
            result = try judged()
        } catch {
            let end = Diagnostics.ended(by: error)
            // Who waits for the test's result is told as well.
            let words = CommandText.line(words),
                reason = "the gate could not judge: \(Diagnostics.lastError ?? "\(error)")"
            let result = GateResult(.nothing(reason), command: words, baseline: "")
            if output != nil { _ = try write(result) } else { try writeJUnit(GateReport(result)) }
            // Status 1 says that it is worse, and nothing else.
            throw end as? ExitCode == ExitStatus.nothing.code ? ExitStatus.failed.code : end
        }
        let report = try write(result)
        switch result.verdict {
        case .fine: return
        case .worse:
            Diagnostics.say(report.headline)
            throw ExitStatus.nothing.code
        case .unknown:
            Diagnostics.say("could not tell: \(report.headline)")
            throw ExitStatus.failed.code
        }
    }

    private func write(_ result: GateResult) throws -> GateReport {
        let isShown = output == nil && isatty(STDOUT_FILENO) == 1
        let format =
            format ?? output.flatMap { GateReport.Format(ending: FileName.ending($0)) } ?? (isShown ? .text : .markdown)
        let screen = Screen(screenOptions, format)
        let report = GateReport(result, layout: output == nil ? screen.layout : TextLayout())
        try screen.show(
            report, as: format, into: output.map { try OutputFile($0) }, cutsLines: format == .text)
        try writeJUnit(report)
        return report
    }

    private func writeJUnit(_ report: GateReport) throws {
        guard let junit else { return }
        let test = try OutputFile(junit)
        report.writeJUnit(to: test.writer)
        try test.finish()
    }

    // MARK: Judging

    private func judged() throws -> GateResult {
        var selection = runs.selection
        selection.program = selection.program ?? SessionName.stem(words[0])
        selection.needsTimes = !counts
        if case .measure = HistorySubject(subject) { selection.needsTimes = false }
        selection.candidate = (CommandText.line(words), GateRuns.host)
        // Calls do not depend on the machine.
        if counts, selection.host == nil { selection.anyHost = true }
        var baseline = try GateBaseline(against, selection, symbols: symbols.symbols, listener: Diagnostics.listener)
        if baselineCmd != nil { baseline.name = baselineCmd!.visible }
        let runs = try GateRuns(recording(baseline), symbols: symbols.symbols, listener: Diagnostics.listener)
        defer { runs.finish() }
        return try counts ? countsJudged(&baseline, runs) : timesJudged(&baseline, runs)
    }

    /// How the runs are to be recorded.
    private func recording(_ baseline: GateBaseline) throws -> [String] {
        let subject = HistorySubject(subject)
        if subject == .measure(.instructions), let refusal = InstructionCounter.refusal {
            throw Diagnostics.fail("--of instructions: \(refusal); --of 'cpu time' does without", .failed)
        }
        // Allocations are compared where they were recorded.
        let tellsMemory =
            (counts && baseline.runs.last?.content.tellsAllocations == true) || subject == .measure(.allocations)
        if tellsMemory { return ["--mode", "trace", "--memory"] }
        if case .measure(let measure) = subject, measure.isOfStart { return ["--mode", "trace", "--startup"] }
        return ["--mode", counts ? "counts" : baseline.mode]
    }

    private func countsJudged(_ baseline: inout GateBaseline, _ runs: GateRuns) throws -> GateResult {
        if let baselineCmd {
            let read = try runs.run(.line(baselineCmd))
            baseline.runs.append((read.run, read.content))
        }
        if let sampled = baseline.runs.first(where: { !$0.run.mode.isExact }) {
            throw Diagnostics.fail("\(sampled.run.session): samples do not count calls", .failed)
        }
        let candidate = try runs.run(.words(words))
        let limit = (maxRegress ?? Growth(percent: 0)).percent / 100
        let contents = baseline.runs.map(\.content)
        var counts = GateCounts(baseline: contents, candidate: candidate.content, limit: limit)
        if counts.isWorse {
            // Calls that differ between two runs of the same program are no change.
            let again = try runs.run(.words(words)).content
            counts = GateCounts(baseline: contents, candidate: candidate.content, again: again, limit: limit)
        }
        return GateResult(.counts(counts), command: CommandText.line(words), baseline: baseline.name)
    }

    private func timesJudged(_ baseline: inout GateBaseline, _ runs: GateRuns) throws -> GateResult {
        let (subject, program) = (HistorySubject(subject), GateRuns.Program.words(words))
        let isOfCalls = if case .measure = subject { false } else { true }
        if isOfCalls, let counted = baseline.runs.first(where: { !$0.run.mode.hasTimes }) {
            throw Diagnostics.fail("\(counted.run.session): has no times; --counts compares calls", .failed)
        }
        if baselineCmd == nil { try baseline.keepNewest(subject) }
        var candidates: [SessionRun] = []
        let limit = (maxRegress ?? Growth(percent: 5)).percent / 100
        func time(_ run: HistoryRun, _ content: RunContent) throws -> Double {
            if let time = try subject.time(in: content, total: run.total) { return time }
            throw Diagnostics.fail(
                "\(run.id > 0 ? "run \(run.id) of the baseline" : run.command): the run has no \(subject.title)",
                .failed)
        }
        var before = try baseline.runs.map { try time($0.run, $0.content) }
        var after: [Double] = []
        var look = 0
        while true {
            let wanted = GateJudgement.nextLook(after: after.count, look: look, percent: percent)
            while after.count < wanted, hasTime(runs) || after.isEmpty {
                if let baselineCmd {
                    let read = try runs.run(.line(baselineCmd))
                    before.append(try time(read.run, read.content))
                    baseline.runs.append((read.run, read.content))
                }
                let read = try runs.run(program)
                if let other = baseline.runs.last?.run, other.host != read.run.host, !choosesMachine {
                    return GateResult(
                        .nothing(
                            "the baseline was recorded on \(other.machine), and this is \(read.run.host): times differ; "
                                + "--host \(other.machine) compares all the same"),
                        command: program.text, baseline: baseline.name)
                }
                after.append(try time(read.run, read.content))
                candidates.append(read)
                // What only one side has takes no time on the other.
                if candidates.count == 1 { try subject.require(in: baseline.runs.map(\.content) + [read.content]) }
            }
            look += 1
            let judgement = GateJudgement(
                baseline: before, candidate: after, percent: percent, limit: limit, look: look)
            guard judgement.verdict != .unknown || after.count < wanted || !hasTime(runs) else { continue }
            let functions =
                judgement.verdict == .fine
                ? []
                : GateResult.functions(
                    baseline: baseline.runs.map { own($0.content) }, candidate: candidates.map { own($0.content) })
            return GateResult(
                .times(judgement, subject: subject, percent: percent, limit: limit, functions: functions),
                command: program.text, baseline: baseline.name)
        }
    }

    /// Whether it was said which machines' runs to compare with.
    private var choosesMachine: Bool {
        runs.host != nil || runs.anyHost || runs.label.contains { $0.name == HistoryRun.machineLabel }
    }

    /// Whether the budget allows one run more, or one of each side, as long as those so far took.
    private func hasTime(_ runs: GateRuns) -> Bool {
        let one = runs.count == 0 ? 0 : runs.time / UInt64(runs.count)
        return runs.time + one * (baselineCmd == nil ? 1 : 2) <= budget?.nanoseconds ?? GateCommand.budget
    }

    private func own(_ content: RunContent) -> [IdentifiedFunctions.Identity: Double] {
        Dictionary(content.functions.map { ($0.identity, Double($0.sums.selfTime)) }) { $0 + $1 }
    }
}

/// How much more something may take: `5%`, `900%`.
struct Growth {
    var percent: Double

    private struct InvalidText: Error, CustomStringConvertible {
        let description = "a growth is a percentage from 0, as 5%"
    }

    init(percent: Double) { self.percent = percent }

    init(argument: String) throws {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        guard let percent = Double(String(number)), percent >= 0, percent.isFinite else { throw InvalidText() }
        self.percent = percent
    }
}
