internal import ArgumentParser
internal import TraceAnalysis
internal import TraceBuild
internal import TraceFile
internal import TraceFindings
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct Tune: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Propose what the next build is to leave without hooks, and say what that saves.",
        usage: "fathom tune [<options>] [<session>]",
        discussion: """
            Leaves out short functions that are called much and have little time in them, as long as enough of the total time \
            of all call paths stays: by name, or by file and namespace where that leaves out more for less. The list is for \
            fathom build --exclude-list.
            """,
        examples: [
            (
                "fathom tune prog.fathom -o prog.list",
                "Writes a list for fathom build --exclude-list, and says what it saves."
            ),
            (
                "fathom tune prog.fathom --keep 99% --shorter-than 1us",
                "Leaves out less: what keeps 99 % of the time."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup var correction: CorrectionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("Write the list to this file instead of standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("Keep this part of the total time of all call paths (default: 95%).", valueName: "percent"),
        transform: Percentage.init(argument:))
    var keep = Percentage(percent: HookTuning.Limits().keep)

    @Option(
        help: ArgumentHelp(
            "Leave out only functions whose calls are shorter on average (default: 100ns).", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var shorterThan = TimeSpan(nanoseconds: HookTuning.Limits().shorterThan)

    @Flag(
        help:
            "Weigh functions of system headers as others; without it, they are all left out, and kept time is the others'."
    )
    var systemHeaders = false

    @Option(help: "How to write it; fathom build takes text.")
    var format = ReportFormat.text

    @OptionGroup var cache: CacheOptions

    private func groups(_ functions: FunctionTable) -> HookTuning.Groups {
        let keepsSystemHeaders = systemHeaders
        let files = Set(functions.functions.indices.compactMap { functions[UInt32($0)].file })
        func file(_ function: ResolvedFunction) -> String? {
            function.file ?? ExcludeGroup.presumedFile(of: function.name, among: files)
        }
        return HookTuning.Groups(
            patterns: { $0.isKnown ? ExcludeGroup.lines(of: $0.name, in: $0.file) : [] },
            leavesOut: { ExcludeGroup.leavesOut($0, $1.name, in: file($1)) },
            systemHeaders: { keepsSystemHeaders ? nil : file($0).flatMap(ExcludeGroup.systemHeaders) })
    }

    func run() throws {
        let paths = try input.aggregate(nil, times: correction, usesCache: cache.isUsed) { $0.showsCompilerMade = true }
        var limits = HookTuning.Limits()
        limits.keep = keep.percent
        limits.shorterThan = shorterThan.nanoseconds
        try paths.session.requireTimes(for: "fathom tune weighs times")
        let tree = try paths.tree()
        let tuning = HookTuning(
            tree, limits: limits,
            language: HookTuning.Language(
                pattern: { $0.isKnown ? ExcludePattern.of($0.name) : nil }, leavesOut: ExcludePattern.leavesOut,
                groups: groups(tree.functions)))
        let file = try output.flatMap { $0 == "-" ? nil : try OutputFile($0) }
        let screen = Screen(screenOptions, format)
        let report = TuneReport(
            tuning, session: input.given ?? paths.session.path,
            bytes: paths.recorded.reduce(0) { $0 + UInt64($1.bytes) },
            measured: TracingCost(of: paths.session), layout: file == nil ? screen.layout : TextLayout())
        try screen.show(report, as: format, of: paths.answer(tuning), into: file, cutsLines: false)
        let leftOut = paths.session.losses.leftOutCalls
        if leftOut > 0 {
            Diagnostics.warn("\(leftOut) calls were left out of the recording, and are not looked at here")
        }
        guard let output, output != "-" else { return }
        report.summary.forEach(Diagnostics.say)
        if format == .text, !tuning.exclusions.isEmpty {
            Diagnostics.say("next: fathom build --exclude-list \(CommandText.file(output)) -- COMMAND")
        }
    }
}
