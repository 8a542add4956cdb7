internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceScreen
internal import TraceSystem
internal import TraceText

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch where the time of a running program goes: a table of its functions, and its call tree.",
        usage: "fathom top [<options>] [<session>|<pid>]",
        discussion: """
            The program is being recorded by fathom record, and is not slowed by this. h shows the keys, q quits. Where \
            standard output is no terminal, and with -n, the table is written as text.
            """,
        examples: [
            ("fathom top server.fathom", "Shows the functions of a running server, anew each second."),
            (
                "fathom top server.fathom --tree -d 5s",
                "Shows the call tree of what is recorded there, each five seconds."
            ),
            ("fathom top server.fathom -n 3 --sort self", "Writes the table three times."),
        ])

    @Argument(
        help: ArgumentHelp(
            "A session that is being recorded, or a process of one; the newest session here if left out.",
            valueName: "session|pid"), completion: .session)
    var target: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        help: ArgumentHelp(
            "How long to wait between two looks: 500ms, 2s, or seconds (default: 1s).", valueName: "time"),
        transform: Top.delay)
    var delay = TimeSpan(nanoseconds: 1_000_000_000)

    @Option(
        name: [.customShort("n", allowingJoined: true), .long],
        help: ArgumentHelp("Write the table so many times, as text, and end.", valueName: "looks"))
    var number: Int?

    @Flag(help: "Begin with the call tree, and not with the table.")
    var tree = false

    @Option(help: ArgumentHelp("Sort by this column.", valueName: "column"))
    var sort = ScreenColumn.total

    @Option(help: ArgumentHelp("As text, write this many rows; 0 for all.", valueName: "rows"))
    var limit = 20

    @OptionGroup(title: "Filters") var names: NameOptions
    @OptionGroup var symbols: SymbolOptions

    @Option(
        name: [.customLong("color"), .customLong("colour")],
        help: ArgumentHelp("Use colours; auto does so on terminals, unless NO_COLOR is set.", valueName: "when"))
    var colours = ScreenOptions.Colours.auto

    private static let shortestDelay = TimeSpan(nanoseconds: 50_000_000)

    /// A number alone is of seconds.
    private static func delay(_ text: String) throws -> TimeSpan {
        let span = try Double(text) != nil ? TimeSpan(text + "s") : TimeSpan(argument: text)
        guard span.nanoseconds >= shortestDelay.nanoseconds else {
            throw ValidationError("--delay is 50ms at least")
        }
        return span
    }

    func validate() throws {
        if let number, number < 1 { throw ValidationError("--number is 1 at least") }
        let isText = number != nil || isatty(STDOUT_FILENO) == 0
        if isText, tree { throw ValidationError("--tree is for a terminal; fathom graph shows the tree as text") }
        if isText, ReportOrder(rawValue: sort.rawValue) == nil {
            throw ValidationError("--sort: '\(sort.rawValue)' is for a terminal")
        }
        if limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let session = try runningSession(target)
        guard session.isRecording else {
            throw Diagnostics.fail(
                "\(session.path) is not being recorded any more; fathom browse shows what it holds", .nothing)
        }
        var options = QueryOptions()
        options.symbolFiles = try symbols.readable()
        try names.apply(to: &options.filter)
        var running = try RunningScreen(session, options)
        let path = session.path
        if number != nil || isatty(STDOUT_FILENO) == 0 { return try write(&running) }
        let terminal = try CursesTerminal(
            for: "fathom top", otherwise: "fathom top -n 1 writes text anywhere", colours)
        defer { terminal.close() }
        do {
            try show(&running, path, on: terminal)
        } catch {
            terminal.close()
            throw error
        }
    }

    // MARK: On a terminal

    /// The longest stretch of reading between two looks at the keys, in ns.
    private static let readingTime: UInt64 = 200_000_000

    private func show(_ running: inout RunningScreen, _ path: String, on terminal: CursesTerminal) throws {
        _ = running.read(for: Top.readingTime)
        var screen = TraceScreen(
            try running.content(), tree ? .tree : .report, sortedBy: sort, characters: terminal.characters,
            surroundings: Surroundings.of(path, isLive: true))
        var next = SystemClock.monotonic &+ delay.nanoseconds
        var isBehind = false
        try ScreenLoop(terminal: terminal).run(&screen) { choice, screen in
            running.choose(choice)
            screen.update(try running.content())
        } wait: {
            let now = SystemClock.monotonic
            return isBehind && !running.isOver ? 0 : next > now ? Int((next - now) / 1_000_000) + 1 : 0
        } refresh: { screen in
            let begin = SystemClock.monotonic
            if running.isOver {
                next = begin &+ delay.nanoseconds
                return
            }
            guard isBehind || begin >= next else { return }
            isBehind = running.read(for: Top.readingTime) < 1
            guard begin >= next else { return }
            if !screen.isPaused { screen.update(try running.content()) }
            let end = SystemClock.monotonic
            // Looking takes a third of the time at most, however much there is to be looked at.
            next = max(begin &+ delay.nanoseconds, end &+ (end - begin) * 2)
        }
    }

    // MARK: As text

    private func write(_ running: inout RunningScreen) throws {
        let screen = Screen(colours: colours)
        var looks = 0, hasRows = false
        while true {
            while running.read(for: Top.readingTime) < 1 {}
            let content = try running.content()
            hasRows = hasRows || !content.rows.isEmpty
            let writer = screen.writer()
            if looks > 0 { writer.write(byte: UInt8(ascii: "\n")) }
            let status = ": \(content.status)"
            writer.write("\(screen.layout.fit(content.title, behind: status.columns).name)\(status)\n")
            let order = ReportOrder(rawValue: sort.rawValue) ?? .number(.total)
            TableReport(
                SummedRows(.functions, content.rows, of: content.tree), order: order, limit: limit == 0 ? .max : limit,
                layout: screen.layout
            ).write(.text, to: writer)
            try StandardOutput.finish(writer)
            looks += 1
            if running.isOver || looks == number || writer.isClosed {
                let isFiltered = !names.isEmpty
                if !hasRows { throw isFiltered ? QueryError.nothingLeft(near: .none) : .noCalls(isDamaged: false) }
                return
            }
            let next = SystemClock.monotonic &+ delay.nanoseconds
            // What comes meanwhile is read as it comes.
            while case let now = SystemClock.monotonic, now < next {
                usleep(UInt32(min(next - now, Top.readingTime) / 1000))
                _ = running.read(for: Top.readingTime)
            }
        }
    }
}
