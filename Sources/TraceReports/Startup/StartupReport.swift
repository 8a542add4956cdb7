public import TraceAnalysis
internal import TraceFile
public import TraceFindings
public import TraceText

/// How a program starts: text or JSON, of one run or of several.
public struct StartupReport: Report {
    public enum Format: String, CaseIterable, Sendable { case text, json, html }

    public struct Options {
        /// Initializers and pieces of advice that text shows, at most; nil: all.
        public var limit: Int?
        /// What was started, for the page's title.
        public var title = "the program"
        /// How text is laid out.
        public var layout = TextLayout()
        /// A plan beside the run that is shown.
        public var plan: ((_ run: Int) -> LaunchReport)?

        public init() {}
    }

    /// A run with the names of what it called.
    public struct Run {
        public var startup: Startup
        public var functions: FunctionTable

        public init(_ startup: Startup, functions: FunctionTable) {
            self.startup = startup
            self.functions = functions
        }
    }

    let runs: [Run]
    let statistics: StartupRuns
    let options: Options
    /// What was said of an attempt to start cold; nil where nobody asked.
    let cold: String?

    /// - Parameter runs: at least one.
    public init(_ runs: [Run], cold: String? = nil, options: Options = Options()) {
        self.runs = runs
        self.cold = cold
        self.options = options
        statistics = StartupRuns(runs.map(\.startup))
    }

    /// The run whose total is the median: the one that is shown.
    var shown: Run { runs[statistics.median] }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: for line in lines { writer.write("\(line)\n") }
        case .json: writeJSON(to: writer)
        case .html: writeHTML(to: writer)
        }
    }

    // MARK: Text

    /// A time as the loaders of phones tell it: `644.58 milliseconds (100.0%)`.
    private func share(_ nanoseconds: UInt64, of whole: UInt64) -> String {
        let percent = whole == 0 ? 0 : Double(nanoseconds) / Double(whole) * 100
        return "\(CountText.fixed(Double(nanoseconds) / 1e6, 2)) milliseconds (\(CountText.fixed(percent, 1))%)"
    }

    private var lines: [String] {
        let startup = shown.startup
        var lines: [String] = []
        let before = startup.phases.filter(\.isBeforeMain)
        let preMain = before.reduce(0) { $0 + $1.nanoseconds }
        let isApart = startup.preMain != nil || !startup.phases.contains { $0.parts.contains(.main) }
        let first = isApart ? "Total pre-main time: " : "Total time before what is not known apart: "
        lines.append(heading(first + share(preMain, of: preMain)))
        let slowest = slowestLines
        let names = before.map { "\($0.name) time" } + slowest.map(\.name)
        // Behind a name stands a time and a share, as in "12345.67 milliseconds (100.0%)".
        let room = options.layout.width.map { max($0 - 35, TextLayout.leastName) } ?? .max
        let width = min((names.map(\.columns).max() ?? 0) + 4, room)
        func row(_ name: String, _ value: String) -> String {
            let name = name.shortened(to: width)
            return String(repeating: " ", count: width - name.columns) + name + (value.isEmpty ? ":" : ": \(value)")
        }
        for phase in before { lines.append(row("\(phase.name) time", share(phase.nanoseconds, of: preMain))) }
        if !slowest.isEmpty {
            lines.append(row("slowest initializers", ""))
            lines += slowest.map { row($0.name, share($0.nanoseconds, of: preMain)) }
        }
        if let phase = startup.phases.first(where: { !$0.isBeforeMain }) {
            let name = phase.parts == [.main] ? name(of: phase, in: startup) : "\(phase.name): \(end(of: startup))"
            lines += sentence(
                "\(name): \(share(phase.nanoseconds, of: startup.total)) of \(String(time: startup.total)) in all")
        }
        if let reason = startup.incompleteness { lines += sentence("incomplete: \(reason)") }
        lines += [""] + phaseTable(startup)
        lines += relocationLines(startup)
        lines += runLines
        let advice = StartupAdviceText(startup, functions: shown.functions)
        let shownAdvice = startup.advice.prefix(options.limit ?? startup.advice.count)
        if !shownAdvice.isEmpty { lines += ["", heading("What to do, most gain first:")] }
        for piece in shownAdvice { lines += advice.lines(piece).flatMap { sentence("  \($0)") } }
        if let plan = options.plan { lines += plan(statistics.median).lines.flatMap(sentence) }
        lines += startup.gaps.isEmpty ? [] : [""] + startup.gaps.flatMap(sentence)
        return lines
    }

    private func heading(_ text: String) -> String { text.styled(options.layout.style(.bold)) }

    /// A sentence in the lines that it takes, each as far in as the first, or further by `hanging`.
    private func sentence(_ text: String, hanging: Int) -> [String] {
        guard let width = options.layout.width else { return [text] }
        let indentation = text.prefix { $0 == " " }.count
        let words = text.dropFirst(indentation)
        let lines = String(words).wrapped(to: width - indentation, indentation: hanging).split(separator: "\n")
        return lines.map { String(repeating: " ", count: indentation) + $0 }
    }

    private func sentence(_ text: String) -> [String] { sentence(text, hanging: 2) }

    private var slowestLines: [(name: String, nanoseconds: UInt64)] {
        slowest.prefix(options.limit ?? .max).map { ($0.label, $0.nanoseconds) }
    }

    /// Of the run that is shown, longest first. Of several runs, the times are the medians, by which they are ranked.
    var slowest: [Startup.Initializer] {
        statistics.initializers.sorted { ($1.nanoseconds, $0.begin) < ($0.nanoseconds, $1.begin) }
    }

    private enum Column: String, CaseIterable { case time, running, blocked, runnable, faults, major }

    private func end(of startup: Startup) -> String {
        startup.incompleteness == nil ? startup.end : "the last moment known"
    }

    private func name(of phase: StartupPhase, in startup: Startup) -> String {
        phase.parts == [.main] ? "main to \(end(of: startup))" : phase.name
    }

    private func phaseTable(_ startup: Startup) -> [String] {
        let width = 11
        func cell(_ text: String) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
        let names = startup.phases.map { name(of: $0, in: startup).columns }.max() ?? 0
        let columns = options.layout.chosen(of: Column.allCases, dropping: [.major, .runnable], names: names) { _ in
            width
        }
        var lines = [heading(columns.map { cell($0.rawValue) }.joined() + "  phase")]
        for phase in startup.phases {
            let cells = columns.map { column in
                let text: String? =
                    switch column {
                    case .time: String(time: phase.nanoseconds)
                    case .running: phase.running.map { String(time: $0) }
                    case .blocked: phase.offCPU.map { String(time: $0.blocked) }
                    case .runnable: phase.offCPU.map { String(time: $0.runnable) }
                    case .faults: phase.minorFaults.map { CountText.grouped($0 + (phase.majorFaults ?? 0)) }
                    case .major: phase.majorFaults.map { CountText.grouped($0) }
                    }
                return cell(text ?? "?")
            }
            let name = options.layout.fit(name(of: phase, in: startup), behind: columns.count * width + 2).name
            lines.append(cells.joined() + "  " + name)
        }
        return lines
    }

    private func relocationLines(_ startup: Startup) -> [String] {
        let own = startup.libraries.count { !$0.isSystem && !$0.isOurs }
        var lines = [
            "", "libraries:   \(startup.libraries.count { !$0.isOurs }), \(own) of them not the system's",
        ]
        if let numbers = startup.relocations {
            guard numbers.total > 0 else { return [] }
            lines += sentence("relocations: \(text(numbers))", hanging: "relocations: ".count)
        } else if startup.libraries.isEmpty {
            return []
        }
        if let bytes = startup.bytesRead { lines.append("read from disks before main: \(CountText.size(bytes))") }
        return lines
    }

    private func text(_ numbers: Startup.Relocations) -> String {
        let kinds: [(UInt64, String)] = [
            (numbers.relative, "relative"), (numbers.symbols, "of symbols"), (numbers.calls, "of calls"),
            (numbers.indirect, "chosen by a function"), (numbers.copies, "copied"),
            (numbers.threadLocal, "thread-local"), (numbers.other, "other"),
        ]
        let text = kinds.filter { $0.0 > 0 }.map { "\(CountText.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
        return "\(CountText.grouped(numbers.total)): \(text)"
    }

    /// What all runs took in all, and in each phase.
    var numbersOfPhases: [(name: String, numbers: StartupRuns.Numbers)] {
        [("total", statistics.total)]
            + statistics.phases.map { ($0.parts.map(\.name).joined(separator: " + "), $0.numbers) }
    }

    private var runLines: [String] {
        guard runs.count > 1 else { return cold.map { ["", $0] } ?? [] }
        func line(_ name: String, _ numbers: StartupRuns.Numbers) -> String {
            let cells = [numbers.p50, numbers.p90, numbers.least, numbers.most, numbers.spread].map { value in
                let text = String(time: value)
                return String(repeating: " ", count: max(0, 11 - text.count)) + text
            }
            return cells.joined() + "  \(name)"
        }
        let heads = ["p50", "p90", "least", "most", "spread"].map { String(repeating: " ", count: 11 - $0.count) + $0 }
        var lines = [
            "", "\(runs.count) runs; above is the one of the median, with initializers by their medians.",
            heading(heads.joined() + "  phase"),
        ]
        lines += numbersOfPhases.map { line($0.name, $0.numbers) }
        lines += ["", "runs, coldest first:"]
        for index in statistics.coldestFirst {
            let run = runs[index].startup
            let faults = run.majorFaults.map { ", \(CountText.grouped($0)) major faults" } ?? ""
            let state = run.incompleteness == nil ? "" : ", incomplete"
            lines.append("  run \(index + 1): \(String(time: run.total))\(faults)\(state)")
        }
        if let cold { lines += ["", cold] }
        return lines
    }
}
