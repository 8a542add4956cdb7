internal import Glibc
internal import TraceFile
public import TraceRecording
internal import TraceText

/// What `fathom record` says at the end.
public struct SummaryText {
    public let lines: [String]
    /// Those that say what is missing.
    public var warnings: [String] { lines.filter { $0.hasPrefix("warning: ") } }

    /// How the lines are to be.
    public struct Options: Sendable {
        /// Whether only the first call of each function was recorded.
        public var isFirst = false
        /// Whether functions have names, by which they can be put in order.
        public var hasNames = true
        /// Whether the program has hooks itself, or was recorded for those that it starts.
        public var hasHooks = true
        /// Whether calls of library functions were asked for, which need no hooks.
        public var hasLibraryCalls = false
        /// Whether functions without hooks were asked for.
        public var hasDetours = false
        /// Whether there is a terminal, for which `fathom browse` is.
        public var onTerminal = false

        public init() {}
    }

    /// More calls than this are no tree that people read from its beginning to its end.
    static let readable: UInt64 = 5000

    public init(_ summary: RecordingSummary, _ options: Options = Options()) {
        let isFirst = options.isFirst
        if summary.isFlight {
            lines = Self.flight(summary, options)
            return
        }
        if let period = summary.samplePeriod {
            lines = Self.samples(summary, period)
            return
        }
        let (missing, overflow) = summary.unwrittenCalls.addingReportingOverflow(summary.lostCalls)
        var lines = [
            "recorded \(Self.count(summary.calls, isFirst ? "first call" : "call")) in \(Self.count(UInt64(summary.threads), "thread")) of "
                + "\(Self.count(UInt64(summary.processes), "process", "processes")): "
                + "\(CountText.size(summary.bytes)) in \(summary.session)"
        ]
        if let older = summary.setAside { lines.append(Self.setAside(older)) }
        if summary.paths > 0 { lines.append(Self.paths(summary)) }
        if summary.calls == 0 && missing == 0 && summary.unreturnedCalls == 0 && summary.leftOutCalls == 0
            && !summary.isContinued
        {
            lines.append(Self.noCalls(options))
        }
        if missing > 0 || overflow {
            let reason =
                summary.isCapped
                ? "the size cap was reached"
                : summary.isFullOfPaths
                    ? "their threads had begun when all call paths that --max-paths allows were taken; allow more"
                    : summary.writeError
                        ?? "there was no room for another buffer, or their threads could not be followed"
            lines.append("warning: \(Self.count(overflow ? .max : missing, "call")) not recorded: \(reason)")
        }
        if summary.unreturnedCalls > 0 {
            lines.append(
                "warning: \(Self.count(summary.unreturnedCalls, "call")) not recorded: \(MissingCalls.noPlaces)")
        }
        if summary.spoiledChunks > 0 {
            lines.append(
                "warning: \(Self.count(summary.spoiledChunks, "chunk")) left out: the program had written over them")
        }
        if summary.isSpoiled {
            lines.append(
                "warning: the program has written over the recording's memory; more may be missing than is said")
        }
        if summary.missedProcesses > 0 {
            let programs = Self.count(UInt64(summary.missedProcesses), "program")
            lines.append("warning: \(programs) with hooks not recorded; fathom info says which, and why")
        }
        if let sources = summary.waitSources, sources.tellsCauses, let refusal = sources.refusal {
            lines.append(
                "warning: only waits in calls of the C library are known, because the kernel does not tell of context "
                    + "switches: \(refusal)")
        }
        if summary.lostSwitches > 0 {
            lines.append(
                "warning: \(Self.count(summary.lostSwitches, "context switch", "context switches")) lost; "
                    + "some waiting counts as running")
        }
        if let problem = summary.switchProblem {
            lines.append("warning: not all context switches were written: \(problem)")
        }
        if summary.lostWakings > 0 {
            lines.append(
                "warning: \(Self.count(summary.lostWakings, "waking")) lost, of this or other programs; some wakers may "
                    + "not be known")
        }
        if let problem = summary.wakingProblem { lines.append("warning: not all wakings were written: \(problem)") }
        lines += Self.faults(summary) + Self.systemCalls(summary)
        if let problem = summary.startupProblem {
            lines.append("warning: not all is known of the start: \(problem)")
        }
        if summary.leftOutCalls > 0 {
            let all = summary.calls == 0 && missing == 0 ? ", which is all of them" : ""
            lines.append("left out as asked for: \(Self.count(summary.leftOutCalls, "call"))\(all)")
        }
        if let baseline = summary.baseline {
            lines.append(
                "CPU time \(Self.milliseconds(baseline.traced.total)), without recording "
                    + "\(Self.milliseconds(baseline.plain.total)) "
                    + "(\(baseline.runs == 1 ? "one run" : "median of \(baseline.runs) runs"))")
        }
        if let problem = summary.baselineProblem { lines.append("warning: no baseline: \(problem)") }
        if case .signaled(let signal) = summary.status { lines.append(Self.end(by: signal)) }
        if summary.isContinued { lines.append(Self.continuation(summary)) }
        if summary.calls > 0 || summary.isContinued {
            let view =
                isFirst
                ? (options.hasNames ? "order" : "dump")
                : summary.paths > 0 ? "report" : Self.view(of: summary.calls, options)
            lines.append("next: fathom \(view) \(CommandText.file(summary.session))")
        }
        self.lines = lines
    }

    /// Why there are no calls.
    private static func noCalls(_ options: Options) -> String {
        if options.isFirst { return "no function with a trap was called" }
        if options.hasDetours { return "no function with a detour was called" }
        if options.hasLibraryCalls {
            return
                "no program called a function of a library that --libcalls or --syscalls asks for, as far as calls go through slots"
        }
        return options.hasHooks
            ? "no function with hooks was called"
            : "no program with hooks was started; fathom build gives hooks, as in fathom build -- make"
    }

    /// What is said as soon as something was saved of a ring.
    public static func line(for save: FlightSave) -> String {
        "saved \(count(save.calls, "call")), \(CountText.size(save.bytes)), in \(save.session): \(save.reason)"
    }

    /// What is said of a program that a signal has ended: somebody may have ended it because it hung.
    private static func end(by signal: Int32) -> String {
        "\(signalName(signal)) ended the program; calls that were open then are marked (open) in fathom tree"
            + ([SIGINT, SIGTERM, SIGKILL, SIGQUIT].contains(signal)
                ? ", and why a program hangs is told by fathom watch" : "")
    }

    /// What is said of the session that had the name before, which is at `path` now.
    public static func setAside(_ path: String) -> String {
        "the session that was there is now \(CommandText.file(path))"
    }

    /// The command that shows so many calls best.
    private static func view(of calls: UInt64, _ options: Options) -> String {
        calls <= readable ? "tree" : options.onTerminal ? "browse" : "graph"
    }

    /// What is said at the end of a recording in a ring. What was saved was told then.
    private static func flight(_ summary: RecordingSummary, _ options: Options) -> [String] {
        var lines = summary.setAside.map { [setAside($0)] } ?? []
        if summary.refusedSaves > 0 {
            let saves = count(summary.refusedSaves, "save"), verb = summary.refusedSaves == 1 ? "was" : "were"
            lines.append("warning: \(saves) beyond the limit \(verb) not made; --limit-saves allows more")
        }
        if summary.unjudgedCalls > 0 {
            let calls = count(summary.unjudgedCalls, "call")
            lines.append(
                "warning: \(calls) that --when asks for came too fast to be looked at; a higher limit or a narrower condition tells of fewer"
            )
        }
        if let problem = summary.saveProblem { lines.append("warning: a save failed: \(problem)") }
        if summary.isContinued { lines.append(continuation(summary)) }
        if summary.leavesRing {
            lines.append("what the ring held is left in \(summary.session)")
            lines.append("next: fathom \(view(of: summary.calls, options)) \(CommandText.file(summary.session))")
        } else if let last = summary.saves.last {
            lines.append("next: fathom \(view(of: last.calls, options)) \(CommandText.file(last.session))")
        } else if !summary.isContinued && summary.refusedSaves == 0 && summary.saveProblem == nil {
            lines.append("nothing asked for a save, so nothing was kept")
        }
        return lines
    }

    /// What is said of samples of the stacks.
    private static func samples(_ summary: RecordingSummary, _ period: UInt64) -> [String] {
        var lines = [
            "took \(count(summary.samples, "sample")) of \(count(UInt64(summary.threads), "thread")) of "
                + "\(count(UInt64(summary.processes), "process", "processes")), one each \(String(time: period)) and thread: "
                + "\(CountText.size(summary.bytes)) in \(summary.session)"
        ]
        if let older = summary.setAside { lines.append(setAside(older)) }
        if let refusal = summary.sampleRefusal {
            lines.append(
                "warning: the program's memory cannot be read (\(refusal)), so some or all samples are missing; "
                    + "fathom doctor says what ptrace allows")
        }
        if summary.tornSamples > 0 {
            lines.append("left out: \(count(summary.tornSamples, "sample")) of threads that called too fast to be read")
        }
        if summary.isContinued { lines.append(continuation(summary)) }
        if summary.samples > 0 || summary.isContinued {
            lines.append("next: fathom report \(CommandText.file(summary.session))")
        }
        return lines
    }

    /// What is missing of system calls.
    private static func systemCalls(_ summary: RecordingSummary) -> [String] {
        var lines: [String] = []
        if let refusal = summary.systemCallRefusal {
            lines.append("warning: system calls are not known, because the kernel does not tell of them: \(refusal)")
        }
        if let refusal = summary.systemCallTextRefusal {
            lines.append(
                "warning: texts that system calls were given, such as paths, show as addresses, because the kernel does not let them be read: \(refusal)"
            )
        }
        if summary.lostSystemCalls > 0 {
            lines.append(
                "warning: \(count(summary.lostSystemCalls, "record")) of system calls lost, because they came faster than they were read"
            )
        }
        return lines
    }

    /// What is missing of page faults.
    private static func faults(_ summary: RecordingSummary) -> [String] {
        var lines: [String] = []
        if let refusal = summary.faultSource?.refusal {
            lines.append(
                "warning: page faults are not known, because the kernel does not tell of them: \(refusal)")
        }
        if summary.lostFaults > 0 {
            lines.append(
                "warning: \(count(summary.lostFaults, "page fault")) lost, because they came faster than they were read"
            )
        }
        if let problem = summary.faultProblem {
            lines.append("warning: not all page faults were written: \(problem)")
        }
        return lines
    }

    private static func paths(_ summary: RecordingSummary) -> String {
        let paths = count(summary.paths, "call path")
        if summary.foldedCalls == 0, !summary.isFullOfPaths { return paths }
        let most = "\(paths), the most that --max-paths allows"
        if summary.foldedCalls == 0 { return most }
        return "\(most); \(count(summary.foldedCalls, "call")) counted with the nearest caller that has a path"
    }

    private static func continuation(_ summary: RecordingSummary) -> String {
        let pids = summary.stillRunning.map { "\($0)" }.joined(separator: ", ")
        let processes = "still running: " + (pids.isEmpty ? "a process that has made no calls yet" : "pid \(pids)")
        guard let recorder = summary.backgroundRecorder else {
            return
                "\(processes); nobody empties the buffers any more, so calls that they have no room for will be missing"
        }
        return
            "\(processes); recording into \(summary.session) goes on in the background (pid \(recorder)) until all have ended"
    }

    private static func count(_ number: UInt64, _ one: String, _ many: String? = nil) -> String {
        CountText.counted(number, one, many)
    }

    private static func milliseconds(_ nanoseconds: UInt64) -> String { "\((nanoseconds + 500_000) / 1_000_000) ms" }
}
