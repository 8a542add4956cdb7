internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFindings
internal import TraceRequest
internal import TraceSymbols
internal import TraceText
internal import TraceWatch

/// What `fathom watch` takes for a hang.
struct HangOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp("A call that takes longer is a hang (default: 2s).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var timeout = TimeSpan(nanoseconds: HangLimits().timeout)

    @Option(
        help: ArgumentHelp(
            "Watch calls of these functions, on any thread, in place of those below main on the main thread.",
            valueName: "glob|/regex/"), completion: .function)
    var root: [String] = []

    @Option(
        help: ArgumentHelp(
            "Watch, on each thread, the time from the mark BEGIN to the mark END; threads are free before the first and after END.",
            valueName: "begin,end"))
    var between: String?

    @Option(help: ArgumentHelp("Until the program sets this mark, a hang is one of the launch.", valueName: "mark"))
    var launched: String?

    @Option(
        help: ArgumentHelp("Take a sample of all stacks so often, from 16ms to 1s (default: 50ms).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var sample = TimeSpan(nanoseconds: HangLimits().sample)

    @Option(
        help: ArgumentHelp(
            "Report a process that uses more than this part of all cores that it may run on (default: 80%).",
            valueName: "percent"),
        transform: Percentage.init(argument:))
    var cpuLimit = Percentage(percent: HangLimits().processorPercent)

    @Option(
        help: ArgumentHelp("Do so when it has used as much for so long, on average (default: 60s).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var cpuTime = TimeSpan(nanoseconds: HangLimits().processorTime)

    @Option(help: ArgumentHelp("If a process has more threads, report its hangs without stacks.", valueName: "number"))
    var maxThreads = HangLimits().threads

    @Option(
        help: ArgumentHelp(
            "Write a report only while the directory has fewer of the last 24 hours; count others (default: 100/day).",
            valueName: "n/day"),
        transform: HangOptionGroup.rate)
    var limitReports = 100

    private static let day = "/day"

    private static func rate(_ text: String) throws -> Int {
        let digits = text.hasSuffix(day) ? String(text.dropLast(day.count)) : text
        guard let number = Int(digits), number > 0 else {
            throw ValidationError("--limit-reports is a number of reports a day, as 100/day")
        }
        return number
    }

    func validate() throws {
        let samples: ClosedRange<UInt64> = 16_000_000...1_000_000_000
        guard samples.contains(sample.nanoseconds) else {
            throw ValidationError("--sample takes times from 16ms to 1s")
        }
        guard timeout.nanoseconds >= 2 * sample.nanoseconds else {
            throw ValidationError("--timeout is at least twice the time between two samples (--sample)")
        }
        guard cpuLimit.percent > 0, cpuTime.nanoseconds > 0 else {
            throw ValidationError("--cpu-limit and --cpu-time are greater than 0")
        }
        guard maxThreads > 0 else { throw ValidationError("--max-threads is a number from 1") }
        if !root.isEmpty, between != nil { throw ValidationError("--root and --between exclude each other") }
        _ = try options()
    }

    /// Says which patterns of `--root` match no function of these programs and the libraries that they need.
    func warnings(on programs: [String]) -> [String] {
        guard !root.isEmpty, !programs.isEmpty else { return [] }
        let libraryPath = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        let modules = programs.flatMap { ReportedFunctions.modules(of: $0, libraryPath: libraryPath) }
        let names = Set(modules.flatMap { $0.functions.map(\.name.visible) })
        let patterns = root.compactMap { try? Pattern($0) }
        return patterns.filter { pattern in !names.contains { pattern.matches($0) } }
            .map { FunctionMatch.warning("--root", $0, names) }
    }

    func options() throws -> HangOptions {
        var options = HangOptions()
        options.limits.timeout = timeout.nanoseconds
        options.limits.sample = sample.nanoseconds
        options.limits.processorPercent = cpuLimit.percent
        options.limits.processorTime = cpuTime.nanoseconds
        options.limits.threads = maxThreads
        options.launched = launched
        if !root.isEmpty {
            options.root = .functions(try root.map(namePattern))
        } else if let between {
            let marks = between.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard marks.count == 2, !marks.contains(""), marks[0] != marks[1] else {
                throw ValidationError("--between takes two marks, as 'request begins,request ends'")
            }
            options.root = .marks(begin: marks[0], end: marks[1])
        }
        return options
    }
}
