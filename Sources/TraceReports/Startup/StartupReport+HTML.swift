internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
public import TracePage
internal import TraceText

extension StartupReport {
    /// Writes a page that needs nothing but itself. It can be read without a script.
    func writeHTML(to writer: ByteWriter) {
        let title = "start of \(options.title)"
        ViewPage.write(title: title, to: writer, content: ViewArticle.content(title: title), article: article)
    }

    /// The report as the first pane of a page.
    public var article: ViewArticle { ViewArticle("Start", style: StartupPage.style) { writeArticle(to: $0) } }

    private func writeArticle(to writer: ByteWriter) {
        let startup = shown.startup
        writer.write("<h1>Start of " as StaticString)
        writer.write(markup: options.title)
        writer.write("</h1>\n" as StaticString)
        paragraph(summary(startup), nil, to: writer)
        if let reason = startup.incompleteness { paragraph("incomplete: \(reason)", "incomplete", to: writer) }
        if runs.count > 1 {
            paragraph("Below is the run of the median, with initializers by their medians.", "soft", to: writer)
        }
        let waterfall = StartupWaterfall(startup, functions: shown.functions)
        waterfall.write(.wide, to: writer)
        waterfall.write(.narrow, to: writer)
        writePhases(startup, to: writer)
        writeInitializers(to: writer)
        writeRuns(to: writer)
        writeAdvice(startup, to: writer)
        if let plan = options.plan {
            writer.write("<h2>Launch plan</h2>\n<pre>" as StaticString)
            for line in plan(statistics.median).lines where !line.isEmpty {
                writer.write(markup: line)
                writer.write("\n" as StaticString)
            }
            writer.write("</pre>\n" as StaticString)
        }
        for gap in startup.gaps { paragraph(gap, "soft", to: writer) }
        if let cold { paragraph(cold, "soft", to: writer) }
    }

    private func summary(_ startup: Startup) -> String {
        let whole =
            "\(String(time: startup.total)) to \(startup.incompleteness == nil ? startup.end : "the last moment known")"
        let main = startup.preMain.map { ", \(String(time: $0)) of it before main" } ?? ""
        guard runs.count > 1 else { return whole + main }
        let numbers = statistics.total
        return whole + main + "; the median of \(runs.count) runs, p90 \(String(time: numbers.p90)), from "
            + "\(String(time: numbers.least)) to \(String(time: numbers.most))"
    }

    private func paragraph(_ text: String, _ style: String?, to writer: ByteWriter) {
        writer.write(style.map { "<p class=\"\($0)\">" } ?? "<p>")
        writer.write(markup: text)
        writer.write("</p>\n" as StaticString)
    }

    /// A table whose first column is a name.
    ///
    /// - Parameter spare: the columns that narrow screens have no room for.
    private func table(
        _ title: String, _ heads: [String], _ rows: [[String]], spare: Set<Int>, to writer: ByteWriter
    ) {
        func style(_ index: Int) -> String {
            index == 0 ? " class=\"name\"" : spare.contains(index) ? " class=\"spare\"" : ""
        }
        writer.write("<h2>\(title)</h2>\n<div class=\"scroll\"><table><thead><tr>")
        for (index, head) in heads.enumerated() {
            writer.write("<th\(style(index))>\(head)</th>")
        }
        writer.write("</tr></thead><tbody>\n" as StaticString)
        for row in rows {
            writer.write("<tr>" as StaticString)
            for (index, cell) in row.enumerated() {
                writer.write("<td\(style(index))>")
                writer.write(markup: cell)
                writer.write("</td>" as StaticString)
            }
            writer.write("</tr>\n" as StaticString)
        }
        writer.write("</tbody></table></div>\n" as StaticString)
    }

    private func writePhases(_ startup: Startup, to writer: ByteWriter) {
        func time(_ value: UInt64?) -> String { value.map { String(time: $0) } ?? "?" }
        func count(_ value: UInt64?) -> String { value.map { CountText.grouped($0) } ?? "?" }
        let rows = startup.phases.map { phase in
            [
                phase.name, String(time: phase.nanoseconds), time(phase.running), time(phase.offCPU?.blocked),
                time(phase.offCPU?.runnable), count(phase.minorFaults), count(phase.majorFaults),
            ]
        }
        let heads = ["phase", "time", "running", "blocked", "runnable", "minor faults", "major faults"]
        table("Phases", heads, rows, spare: [4, 5, 6], to: writer)
    }

    /// What the phases of all runs took, and each run.
    private func writeRuns(to writer: ByteWriter) {
        guard runs.count > 1 else { return }
        let rows = numbersOfPhases.map { name, numbers in
            [name] + [numbers.p50, numbers.p90, numbers.least, numbers.most, numbers.spread].map { String(time: $0) }
        }
        let heads = ["phase", "p50", "p90", "least", "most", "spread"]
        table("Phases of \(runs.count) runs", heads, rows, spare: [3, 5], to: writer)
        let list = statistics.coldestFirst.map { index in
            let run = runs[index].startup
            return [
                "run \(index + 1)\(run.incompleteness == nil ? "" : ", incomplete")", String(time: run.total),
                run.majorFaults.map { CountText.grouped($0) } ?? "?",
            ]
        }
        table("Runs, coldest first", ["run", "time", "major faults"], list, spare: [], to: writer)
    }

    private func writeInitializers(to writer: ByteWriter) {
        let slowest = slowest.prefix(50)
        if slowest.isEmpty { return }
        let rows = slowest.map { initializer in
            [
                "\(PathText.name(initializer.module)): \(initializer.function)", String(time: initializer.nanoseconds),
                CountText.grouped(initializer.minorFaults), CountText.grouped(initializer.majorFaults),
            ]
        }
        let title = runs.count > 1 ? "Slowest initializers, medians of \(runs.count) runs" : "Slowest initializers"
        table(title, ["initializer", "time", "minor faults", "major faults"], rows, spare: [2, 3], to: writer)
    }

    private func writeAdvice(_ startup: Startup, to writer: ByteWriter) {
        if startup.advice.isEmpty { return }
        let text = StartupAdviceText(startup, functions: shown.functions)
        writer.write("<h2>What to do, most gain first</h2>\n<ol>\n" as StaticString)
        for piece in startup.advice {
            let lines = text.lines(piece)
            writer.write("<li>" as StaticString)
            writer.write(markup: lines[0])
            if lines.count > 1 {
                writer.write("<pre>" as StaticString)
                for line in lines.dropFirst() {
                    writer.write(markup: line)
                    writer.write("\n" as StaticString)
                }
                writer.write("</pre>" as StaticString)
            }
            writer.write("</li>\n" as StaticString)
        }
        writer.write("</ol>\n" as StaticString)
    }
}
