internal import Glibc
internal import TraceQuery
internal import TraceReports
internal import TraceText

/// What a command's result is shown on. A terminal has a width that lines are made for, a height that tables are made for,
/// colours, and a pager. Files and pipes get everything whole.
struct Screen {
    let layout: TextLayout
    private let height: Int?
    private let isPaged: Bool

    /// - Parameter format: of what is shown. Only text, which is for people, is ever fitted.
    init(_ options: ScreenOptions, _ format: some RawRepresentable<String>) {
        self.init(colours: options.colours, isPaged: !options.noPager, isText: format.rawValue == "text")
    }

    /// - Parameter descriptor: what it is shown on: standard output, or standard error where the former is the program's.
    init(
        colours: ScreenOptions.Colours = .auto, isPaged: Bool = false, isText: Bool = true,
        on descriptor: Int32 = STDOUT_FILENO
    ) {
        let isTerminal = isatty(descriptor) == 1
        let isDumb = Screen.variable("TERM") == "dumb"
        var layout = TextLayout()
        layout.isColoured =
            switch colours {
            case .always: isText
            case .never: false
            // https://no-color.org
            case .auto: isText && isTerminal && !isDumb && (Screen.variable("NO_COLOR") ?? "").isEmpty
            }
        let size = isTerminal ? Screen.size(of: descriptor) : nil
        if isText, isTerminal {
            layout.width = size?.columns
            layout.directory = Screen.workingDirectory
        }
        self.layout = layout
        height = isText ? size?.rows : nil
        self.isPaged = isPaged && isTerminal && !isDumb
    }

    /// The number of rows to show of a table.
    ///
    /// - Parameters:
    ///   - limit: what was asked for; 0 is all. Nil is what fits a terminal, with what stands above and below it, and elsewhere
    ///     all.
    ///   - lines: the lines that a row takes, with its share of another table below.
    ///   - notes: sentences below the table besides what most tables have.
    func rows(_ limit: Int?, lines: Int = 1, notes: Int = 0) -> Int {
        guard let limit else {
            return height.map { max(($0 - linesBesides(notes)) / lines, Screen.leastRows) } ?? .max
        }
        return limit == 0 ? .max : limit
    }

    /// A heading, how many rows there are more, the shell's prompt, and two sentences, what is summed up and what marks mean,
    /// which are broken into lines.
    private func linesBesides(_ notes: Int) -> Int {
        let sentence = 120
        return 3 + (2 + notes) * ((sentence - 1) / (layout.width ?? sentence) + 1)
    }

    private static let leastRows = 3

    /// A writer of what is to be shown; see ``StandardOutput/finish(_:)``.
    ///
    /// - Parameter cutsLines: whether a line that is longer than the terminal's is cut. What is to be copied is not.
    func writer(cutsLines: Bool = true) -> ByteWriter {
        var writer = StandardOutput.writer(isPaged: isPaged)
        if layout.width != nil, Screen.isPlain { writer = .showing(.ascii, on: writer) }
        guard cutsLines else { return writer }
        return layout.width.map { .cuttingLines(to: $0, writer) } ?? writer
    }

    // MARK: Answers

    /// Shows a report, and says what its answer lacks.
    ///
    /// - Parameters:
    ///   - file: where it is written instead, if there is one.
    ///   - cutsLines: see ``writer(cutsLines:)``.
    /// - Throws: why the answer is empty, if it is.
    func show<Shown: Report>(
        _ report: Shown, as format: Shown.Format, of answer: Answer<some Any>, into file: OutputFile? = nil,
        cutsLines: Bool = true
    ) throws {
        try show(into: file, cutsLines: cutsLines) { writer in
            report.write(format, to: writer)
            return answer
        }
    }

    /// Shows a report of which all is known.
    func show<Shown: Report>(
        _ report: Shown, as format: Shown.Format, into file: OutputFile? = nil, cutsLines: Bool = true
    ) throws {
        try show(report, as: format, of: Answer(()), into: file, cutsLines: cutsLines)
    }

    /// Shows what `write` writes as it reads, and says what its answer lacks.
    func show<Content>(
        into file: OutputFile? = nil, cutsLines: Bool = true, _ write: (ByteWriter) throws -> Answer<Content>
    ) throws {
        let writer = file?.writer ?? writer(cutsLines: cutsLines)
        let answer = try write(writer)
        if let file { try file.finish() } else { try StandardOutput.finish(writer) }
        try answer.say()
    }

    /// The columns and rows of a terminal; nil when it does not tell.
    static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether the locale is one without other characters than ASCII's, by name. None that is named is no such wish.
    private static var isPlain: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable)
        return ["C", "POSIX"].contains(names.first { !$0.isEmpty })
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }
}
