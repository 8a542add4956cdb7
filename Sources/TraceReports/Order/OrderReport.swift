internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// What an order of functions saves: text or JSON.
public struct OrderReport: Report {
    /// What was put in order.
    public struct Facts {
        public var path: String
        public var names: [String]
        public var bytes: UInt64
        public var runs: Int
        /// How many functions that were called are not in the file.
        public var missing: Int
        public var startPages: StartPages

        public init(path: String, names: [String], bytes: UInt64, runs: Int, missing: Int, startPages: StartPages) {
            self.path = path
            self.names = names
            self.bytes = bytes
            self.runs = runs
            self.missing = missing
            self.startPages = startPages
        }
    }

    private let order: FunctionOrder
    private let facts: Facts
    private let showsStartPages: Bool
    private let layout: TextLayout

    /// - Parameter showsStartPages: whether text tells ``TraceAnalysis/StartPages``; JSON always does.
    public init(
        _ order: FunctionOrder, _ facts: Facts, showsStartPages: Bool, layout: TextLayout = TextLayout()
    ) {
        self.order = order
        self.facts = facts
        self.showsStartPages = showsStartPages
        self.layout = layout
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: for line in lines { writer.write("\(line)\n") }
        case .json: writeJSON(to: writer)
        }
    }

    /// What reading a page from a fast disk takes, in ms; a guess, and said to be one.
    private static let coldRead = 0.1

    private var small: FunctionOrder.Pages { order.pages(of: FunctionOrder.pageSize) }
    private var windows: FunctionOrder.Pages { order.pages(of: FunctionOrder.windowSize) }
    private var milliseconds: Double { windows.saved * OrderReport.coldRead }

    private var lines: [String] {
        let count = CountText.grouped(UInt64(facts.names.count))
        let heading =
            "\(layout.path(facts.path)): \(count) functions, \(CountText.size(facts.bytes)), ordered by \(order.method.rawValue)"
            + (facts.runs > 1 ? " of \(facts.runs) runs" : "")
        var lines = [
            heading.styled(layout.style(.bold)),
            "pages of 4 KiB:     \(text(small))", "windows of 64 KiB:  \(text(windows))",
        ]
        if let heldOut = order.heldOut { lines.append("runs left out:      \(text(heldOut)) (pages of 4 KiB)") }
        lines.append(
            "estimated:          \(CountText.fixed(milliseconds, 1)) ms less for a cold start, at 0.1 ms for each window read"
        )
        if facts.missing > 0 { lines.append("not in the file:    \(facts.missing) functions that were called") }
        if showsStartPages {
            let pages = facts.startPages
            lines += [
                "pages of 16 KiB:    \(pages.all) of all code",
                "  that ordered functions begin on: \(pages.now), then \(pages.then), \(pages.saved) less",
                "  estimated: \(pages.milliseconds) ms at 0.5 ms a page",
            ]
        }
        return lines
    }

    private func text(_ pages: FunctionOrder.Pages) -> String {
        "\(number(pages.now)), then \(number(pages.then)), \(number(pages.saved)) less"
    }

    private func number(_ value: Double) -> String {
        CountText.fixed(value, value == value.rounded() ? 0 : 1)
    }

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("file", facts.path)
            json.field("method", order.method.rawValue)
            json.field("runs", facts.runs)
            json.field("bytes", facts.bytes)
            json.field("missing", facts.missing)
            write(small, "pages", json)
            write(windows, "windows", json)
            if let heldOut = order.heldOut { write(heldOut, "held_out_pages", json) }
            json.field("estimated_ms", raw: CountText.fixed(milliseconds, 2))
            json.object("compat") {
                let start = facts.startPages
                json.field("page_size", StartPages.pageSize)
                json.field("all", start.all)
                json.field("now", start.now)
                json.field("then", start.then)
                json.field("saved", start.saved)
                json.field("estimated_ms", start.milliseconds)
            }
            json.line().array("functions", facts.names, .each) { json.value($0) }
        }
    }

    private func write(_ pages: FunctionOrder.Pages, _ name: StaticString, _ json: JSONWriter) {
        json.line().object(name) {
            json.field("page_size", pages.size)
            json.field("now", raw: CountText.fixed(pages.now, 2))
            json.field("then", raw: CountText.fixed(pages.then, 2))
            json.field("saved", raw: CountText.fixed(pages.saved, 2))
        }
    }
}
