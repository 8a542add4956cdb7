internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// How the text of a report is laid out for who reads it. As it is made, it is for files and pipes: lines of any length, paths as
/// they were recorded, no colours.
public struct TextLayout: Sendable {
    /// The columns of a line; nil for any number.
    public var width: Int?
    /// Whether headings and numbers stand out by terminal escapes.
    public var isColoured = false
    /// The directory that paths are shown relative to, if they lie below it; nil to show them as they were recorded.
    public var directory: String?

    public init() {}

    // MARK: Styles

    func style(_ style: TextStyle?) -> TextStyle? { isColoured ? style : nil }

    /// How a time stands out that is a part of `whole`.
    func heat(_ time: UInt64, of whole: UInt64) -> TextStyle? {
        guard isColoured, whole > 0 else { return nil }
        let share = Double(time) / Double(whole)
        return share >= 0.1 ? .red : share >= 0.02 ? .yellow : nil
    }

    /// How what is told of a call, or of a function itself, stands back where its threads mostly waited.
    func waiting(_ offCPU: OffCPUTimes, in time: UInt64) -> TextStyle? {
        isColoured && time > 0 && offCPU.blocked > time / 2 ? .dim : nil
    }

    // MARK: Columns

    /// Names get this many columns before numbers do.
    static let leastName = 24

    /// Names get this many columns before any number but one does.
    static let shortestName = 8

    /// Those of a table's `columns` that leave room for names behind them.
    ///
    /// - Parameters:
    ///   - columns: all, in order.
    ///   - dropping: which of them may be left out, the first one first.
    ///   - names: the columns that the longest name takes, with what stands behind it. It gets at most half of a line by this.
    ///   - columnWidth: the columns that a column takes.
    func chosen<Column: Equatable>(
        of columns: [Column], dropping: [Column], names: Int, width columnWidth: (Column) -> Int
    ) -> [Column] {
        guard let width else { return columns }
        let wanted = min(names, max(TextLayout.leastName, width * 9 / 20))
        var kept = columns
        for column in dropping where width - kept.reduce(2, { $0 + columnWidth($1) }) < wanted {
            kept.removeAll { $0 == column }
        }
        return kept
    }

    // MARK: Names

    /// The deepest level that is indented behind `columns` of numbers. It is no deeper than what people can follow by eye, and
    /// leaves room for names.
    func indentedLevels(behind columns: Int) -> Int {
        width.map { min(max($0 - columns - TextLayout.leastName, 0) / 2, TextLayout.deepestIndented) }
            ?? TextLayout.deepestIndented
    }

    static let deepestIndented = 64

    /// Where a line begins that sums up what is not shown in its place: there, or further left, where it has room to be whole.
    func sumColumn(_ place: Int) -> Int { width.map { min(place, max($0 - TextLayout.widestSum, 0)) } ?? place }

    /// `… 12,345 calls, 60.07 ms below 6ms (not recorded)`
    private static let widestSum = 50

    /// A name, and what follows it, with room behind `columns` that are taken: the fullest of `tails` that leaves room for the
    /// whole name. Where none does, nothing follows, and the name lacks its middle.
    ///
    /// - Parameter tails: the fullest first.
    public func fit(_ name: String, _ tails: [String] = [], behind columns: Int) -> (name: String, tail: String) {
        guard let width else { return (name, tails.first ?? "") }
        let room = width - columns - name.columns
        if let tail = tails.first(where: { $0.columns <= room }) { return (name, tail) }
        return (name.shortened(to: max(width - columns, 1)), "")
    }

    /// The form in which all of these have room behind `columns` that are taken, of those which follow names, the fullest first: its index.
    /// Names that leave no room for any form do not matter.
    func commonForm(of rows: some Sequence<(name: String, forms: [String])>, behind columns: Int) -> Int {
        guard let width else { return 0 }
        return rows.compactMap { name, forms in
            let room = width - columns - name.columns
            return forms.firstIndex { $0.columns <= room }
        }.max() ?? 0
    }

    /// Words and a call path behind them, with room behind `columns` that are taken. The path may lack its middle. Where that
    /// would leave too little of it, the path has a line of its own below the words.
    func fit(_ words: String, path: String, behind columns: Int) -> String {
        guard let width, words.columns + path.columns > width - columns else { return words + path }
        let room = width - columns
        if room < TextLayout.leastPath { return (words + path).shortened(to: max(room, 1)) }
        if !path.isEmpty, room - words.columns >= TextLayout.leastPath {
            return words + path.shortened(to: room - words.columns)
        }
        if path.columns < TextLayout.leastPath { return (words + path).wrapped(to: width, indentation: columns) }
        let lines = (words.last == " " ? String(words.dropLast()) : words).wrapped(to: width, indentation: columns)
        return "\(lines)\n\(String(repeating: " ", count: columns))\(path.shortened(to: room))"
    }

    private static let leastPath = 20

    /// Writes a line: what leads to it, whole, and words with a call path behind them, with as much of these as has room.
    func writeLine(_ lead: String, _ words: String, path: String = "", to writer: ByteWriter) {
        writer.write(lead)
        writer.write(fit(words, path: path, behind: lead.columns))
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Where a function is: its module's name, file and line, the fullest text first.
    func places(of function: ResolvedFunction) -> [String] {
        guard let module = function.module else { return [] }
        let program = "  " + PathText.name(module)
        guard let file = function.file else { return [program] }
        let path = path(file)
        let texts = ["\(program)  \(path)", "\(program)  \(PathText.name(path))", "  \(PathText.name(path))"]
        return texts.prefix(width == nil ? 1 : texts.count).map { "\($0):\(max(function.line, 0))" }
    }

    // MARK: Paths and sentences

    /// Says that there are more rows, lines, or what they are of.
    static func more(_ count: Int, _ noun: String? = nil) -> String {
        "… \(CountText.grouped(UInt64(count))) more\(noun.map { " \($0)" } ?? ""), --limit 0 shows all\n"
    }

    /// Returns a path as it is shown.
    public func path(_ path: String) -> String { directory.map { PathText.relative(path, to: $0) } ?? path }

    /// A sentence below a report, which ends in a new line. It may be in lines for those who have room for them.
    func sentence(_ text: String) -> String {
        guard let width else { return text }
        return text.split(separator: "\n").joined(separator: " ").wrapped(to: width) + "\n"
    }
}
