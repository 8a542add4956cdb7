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
        writer.write("{\"file\":" as StaticString)
        writer.write(json: facts.path)
        writer.write(",\"method\":" as StaticString)
        writer.write(json: order.method.rawValue)
        writer.write(",\"runs\":\(facts.runs),\"bytes\":\(facts.bytes),\"missing\":\(facts.missing)")
        for (name, pages) in [("pages", small), ("windows", windows)] { write(pages, name, to: writer) }
        if let heldOut = order.heldOut { write(heldOut, "held_out_pages", to: writer) }
        writer.write(",\"estimated_ms\":\(CountText.fixed(milliseconds, 2))")
        let start = facts.startPages
        writer.write(
            ",\"compat\":{\"page_size\":\(StartPages.pageSize),\"all\":\(start.all),\"now\":\(start.now),\"then\":\(start.then)"
                + ",\"saved\":\(start.saved),\"estimated_ms\":\(start.milliseconds)}")
        writer.write(",\n\"functions\":[" as StaticString)
        for (index, name) in facts.names.enumerated() where !writer.isClosed {
            writer.write(index == 0 ? "\n" : ",\n" as StaticString)
            writer.write(json: name)
        }
        writer.write("]}\n" as StaticString)
    }

    private func write(_ pages: FunctionOrder.Pages, _ name: String, to writer: ByteWriter) {
        func fixed(_ value: Double) -> String { CountText.fixed(value, 2) }
        writer.write(
            ",\n\"\(name)\":{\"page_size\":\(pages.size),\"now\":\(fixed(pages.now)),\"then\":\(fixed(pages.then))"
                + ",\"saved\":\(fixed(pages.saved))}")
    }
}
