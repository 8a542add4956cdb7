internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceScreen
internal import TraceText

struct Browse: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look through a recording on the terminal, by keys: call tree, report, callers and callees.",
        discussion: "h shows the keys, q quits. fathom top does the same with a program that runs.",
        examples: [
            ("fathom browse prog.fathom", "Shows the call tree with equal paths merged; Enter opens and closes paths."),
            ("fathom browse prog.fathom --report --sort self", "Begins with the functions that took the most time."),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var correction: CorrectionOptions

    @Option(
        name: [.customLong("color"), .customLong("colour")],
        help: ArgumentHelp("Use colours; auto does so unless NO_COLOR is set.", valueName: "when"))
    var colours = ScreenOptions.Colours.auto

    @Flag(help: "Begin with the report, and not with the call tree.")
    var report = false

    @Option(help: ArgumentHelp("Sort by this column.", valueName: "column"))
    var sort = ScreenColumn.total

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if sort == .now { throw ValidationError("--sort: '\(sort.rawValue)' is for fathom top") }
    }

    func run() throws {
        let session = try input.open()
        var options = try input.options(filters)
        options.times = correction.query
        options.usesCache = cache.isUsed
        let terminal = try CursesTerminal(
            for: "fathom browse", otherwise: "fathom graph and fathom report show the same elsewhere", colours)
        defer { terminal.close() }
        let split = SplitTimes(isKnown: session.splitsTimes, knowsRunnable: session.switches != nil)
        let loop = ScreenLoop(terminal: terminal, split: split)
        let choices = ThreadChoices(session, asked: options.selection)
        do {
            var screen = try screen(session, options, choices, 0, loop)
            try loop.run(&screen) { choice, screen in
                var options = options
                if let selection = choices.selection(choice) { options.selection = selection }
                screen = try self.screen(session, options, choices, choice, loop)
            }
        } catch {
            terminal.close()
            throw error
        }
    }

    /// The screen that shows one of the choices.
    private func screen(
        _ session: Session, _ options: QueryOptions, _ choices: ThreadChoices, _ chosen: Int, _ loop: ScreenLoop
    ) throws -> TraceScreen {
        var pace = ScreenPace()
        let listener = QueryListener(
            warn: { Diagnostics.warn($0) },
            progress: { part in
                guard part < 1, pace.isDue(), !loop.showProgress(session.path.visible, part) else { return }
                // Reading cannot be broken off, and nothing is lost by ending here.
                loop.terminal.close()
                _exit(0)
            })
        let query = try AggregateQuery(session, options, listener: listener)
        let tree = try query.tree()
        let rows = options.filter.usesEverything ? try query.functionRows().rows : tree.rows(by: .function)
        let shown = SummedRows(.functions, rows, of: tree).longEnough(for: options.filter)
        var content = ScreenContent(tree, rows: shown.all, title: PathText.name(session.path).visible)
        content.minCost = options.filter.minCost
        content.choices = choices.list
        content.chosen = chosen
        content.status = status(session, query, tree)
        var screen = TraceScreen(
            content, report ? .report : .tree, sortedBy: sort, characters: loop.terminal.characters,
            surroundings: Surroundings.of(session.path, sources: session.sources()))
        let warnings = query.warnings
        if let first = warnings.first {
            screen.say(
                warnings.count == 1 ? first : "\(first) (and \(warnings.count - 1) more warnings)", isError: true)
        }
        return screen
    }

    private func status(_ session: Session, _ query: AggregateQuery, _ tree: CallPathTree) -> String {
        var parts = ["total \(String(time: tree.total))"]
        if query.cost != nil { parts.append("times corrected") }
        if session.isRecording { parts.append("still being recorded; fathom top follows it") }
        return parts.joined(separator: ", ")
    }
}

extension TreeFilter {
    /// Whether rows of all calls are those of this filter.
    fileprivate var usesEverything: Bool { !limitsNames && maxDepth == .max && from == 0 && to == .max }
}
