internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// The functions that no run called, or only few runs: a table, JSON, CSV (RFC 4180), or a list that
/// `fathom build --exclude-list` reads.
public struct UnusedReport: Report {
    public enum Format: String, CaseIterable, Sendable { case text, json, csv }

    public struct Options: Sendable {
        public var group = UnusedFunctions.Group.function
        /// How many rows of text to show.
        public var limit = Int.max
        public var layout = TextLayout()

        public init() {}
    }

    private let unused: UnusedFunctions
    private let options: Options
    private var layout: TextLayout { options.layout }

    public init(_ unused: UnusedFunctions, options: Options = Options()) {
        self.unused = unused
        self.options = options
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .csv: writeCSV(to: writer)
        }
    }

    /// Writes a line for each function by the pattern that `pattern` makes of its name, for a build to leave them without hooks.
    ///
    /// - Parameters:
    ///   - pattern: nil for a function that no list can name.
    ///   - leavesOut: whether a compiler would leave out one of the other functions for a pattern, which is not written then.
    public func writeList(
        to writer: ByteWriter, pattern: (String) -> String?, leavesOut: (_ pattern: String) -> Bool
    ) {
        writer.write("# Functions that \(runsText): fathom build --exclude-list THIS-FILE -- COMMAND\n")
        var seen: Set<String> = []
        var kept = 0
        for function in unused.functions where !writer.isClosed {
            guard let pattern = pattern(function.name), !leavesOut(pattern) else {
                kept += 1
                continue
            }
            if seen.insert(pattern).inserted { writer.write("\(pattern)\n") }
        }
        if kept > 0 { writer.write("# \(kept) more have no pattern that is for no other function\n") }
    }

    // MARK: Text

    private static let columnWidth = 10

    private func writeText(to writer: ByteWriter) {
        if options.group == .function { writeFunctions(to: writer) } else { writePlaces(to: writer) }
        writer.write(layout.sentence(summary + "\n"))
        if unused.functions.contains(where: \.needsVerification) {
            writer.write(layout.sentence(UnusedReport.verifyLegend + "\n"))
        }
    }

    private func writeFunctions(to writer: ByteWriter) {
        heading(["bytes", "lines"] + (showsRuns ? ["runs"] : []), "function", to: writer)
        for function in unused.functions.prefix(options.limit) where !writer.isClosed {
            var numbers = [String(function.bytes), function.lineCount > 0 ? String(function.lineCount) : "-"]
            if showsRuns { numbers.append("\(function.runs)/\(function.possibleRuns)") }
            write(numbers, to: writer)
            let remark = remarks(on: function)
            let (name, tail) = layout.fit(
                function.name, places(of: function).map { $0 + remark },
                behind: numbers.count * UnusedReport.columnWidth + 2)
            writer.write("  \(name)")
            writer.write(in: layout.style(.dim)) { writer.write(tail) }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        writeMore(unused.functions.count, to: writer)
    }

    private func writePlaces(to writer: ByteWriter) {
        let rows = unused.rows(by: options.group)
        heading(["functions", "of", "bytes", "of", "lines"], options.group.rawValue, to: writer)
        for row in rows.prefix(options.limit) where !writer.isClosed {
            let (some, all) = (row.unused, row.all)
            write([some.functions, all.functions].map(String.init), to: writer)
            write([some.bytes, all.bytes].map { String($0) } + [String(some.lines)], to: writer)
            let place = row.place.map { options.group == .module ? $0 : layout.path($0) } ?? "(file not known)"
            writer.write("  \(layout.fit(place, behind: 5 * UnusedReport.columnWidth + 2).name)\n")
        }
        writeMore(rows.count, to: writer)
    }

    private func heading(_ numbers: [String], _ last: String, to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) {
            write(numbers, to: writer)
            writer.write("  \(last)")
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func write(_ texts: [String], to writer: ByteWriter) {
        for text in texts {
            writer.write(spaces: max(1, UnusedReport.columnWidth - text.utf8.count))
            writer.write(text)
        }
    }

    private func writeMore(_ count: Int, to writer: ByteWriter) {
        if count > options.limit { writer.write(TextLayout.more(count - options.limit)) }
    }

    /// Where a function is, the fullest text first.
    private func places(of function: DefinedFunction) -> [String] {
        let program = "  " + PathText.name(function.module)
        guard let file = function.file else { return [program, ""] }
        let path = layout.path(file)
        return ["\(program)  \(path):\(function.line)", "  \(PathText.name(path)):\(function.line)"]
    }

    private func remarks(on function: DefinedFunction) -> String {
        var remarks =
            function.hiddenCallers.isEmpty ? [] : ["verify: \(function.hiddenCallers.joined(separator: ", "))"]
        if function.isInlined { remarks.append("inlined") }
        if function.isUnreachable { remarks.append("--gc-sections drops it") }
        return remarks.isEmpty ? "" : "  [\(remarks.joined(separator: "; "))]"
    }

    private static let verifyLegend = """
        verify: calls by name from other modules, through tables or by address cannot be ruled out by looking at the code
        """

    // MARK: Words

    /// Whether it matters how many runs called a function.
    private var showsRuns: Bool { unused.functions.contains { $0.runs > 0 || $0.possibleRuns != unused.runs } }

    private var runsText: String {
        let runs = unused.runs == 1 ? "the run" : "any of \(unused.runs) runs"
        return showsRuns ? "few of \(unused.runs) runs called" : "\(runs) did not call"
    }

    /// What it all adds up to.
    private var summary: String {
        let (some, all) = (unused.unused, unused.all)
        let share = all.bytes == 0 ? 0 : Double(some.bytes) / Double(all.bytes) * 100
        let gone = unused.functions.count { $0.isUnreachable }
        let unknown = unused.unknown
        return "\(CountText.grouped(UInt64(some.functions))) of \(CountText.grouped(UInt64(all.functions))) functions, "
            + "\(CountText.size(some.bytes)) of \(CountText.size(all.bytes)) (\(CountText.fixed(share, 1)) %), "
            + "\(CountText.grouped(UInt64(some.lines))) lines"
            + (unused.runs > 1 ? "; \(unused.runs) runs" : "")
            + (gone > 0 ? "; a linker would drop \(gone) of them by --gc-sections" : "")
            + (unknown > 0 ? "; \(CountText.grouped(UInt64(unknown))) functions have no hooks, and are not told" : "")
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("runs", unused.runs)
            json.field("unknown", unused.unknown)
            write("unused", unused.unused, json)
            write("all", unused.all, json)
            json.line().objects("functions", unused.functions, .each) { writeFields(of: $0, json) }
            for group in UnusedFunctions.Group.allCases where group != .function {
                json.line().name(of: "\(group.rawValue)s")
                json.objects(unused.rows(by: group), .each) { row in
                    json.name(of: group.rawValue)
                    json.value(row.place)
                    write("unused", row.unused, json)
                    write("all", row.all, json)
                }
            }
        }
    }

    private func write(_ name: StaticString, _ sums: UnusedFunctions.Sums, _ json: JSONWriter) {
        json.object(name) {
            json.field("functions", sums.functions)
            json.field("bytes", sums.bytes)
            json.field("lines", sums.lines)
        }
    }

    private func writeFields(of function: DefinedFunction, _ json: JSONWriter) {
        json.field("name", function.name)
        json.field("linkage_name", function.linkageName)
        json.field("module", function.module)
        json.field("file", function.file)
        json.field("line", function.file == nil ? nil : function.line)
        json.field("bytes", function.bytes)
        json.field("lines", function.lineCount)
        json.field("runs", function.runs)
        json.field("verify", function.needsVerification)
        json.field("callers", function.hiddenCallers)
        json.field("inlined", function.isInlined)
        json.field("unreachable", function.isUnreachable)
    }

    // MARK: CSV

    private func writeCSV(to writer: ByteWriter) {
        writer.write("name,module,file,line,bytes,lines,runs,verify,inlined,unreachable\n" as StaticString)
        for function in unused.functions where !writer.isClosed {
            writer.write(csv: function.name)
            for field in [function.module, function.file ?? "", function.file == nil ? "" : String(function.line)] {
                writer.write(byte: UInt8(ascii: ","))
                writer.write(csv: field)
            }
            writer.write(
                ",\(function.bytes),\(function.lineCount),\(function.runs),\(function.needsVerification),"
                    + "\(function.isInlined),\(function.isUnreachable)\n")
        }
    }
}
