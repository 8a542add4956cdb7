internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Prints why a function's slowest calls are slow: a histogram, the paths that add most, all of them as a tree, and the calls.
struct TailText {
    private let report: TailReport
    private let writer: ByteWriter
    private var tail: TailComparison { report.tail }
    private var layout: TextLayout { report.options.layout }

    init(_ report: TailReport, _ writer: ByteWriter) {
        self.report = report
        self.writer = writer
    }

    func write() {
        let (slow, typical) = (tail.slow, tail.typical)
        heading(
            "\(report.options.function): \(count(tail.durations.calls)), the slowest \(CountText.grouped(slow.calls)) beside "
                + "\(CountText.grouped(typical.calls)) typical ones, from p25 to p75\(TimesText(nil).headings[0])")
        writePartial()
        endLine()
        writeHistogram()
        endLine()
        writeSummary()
        endLine()
        var tree = TailTreeText(report, writer)
        tree.write()
        endLine()
        writeCalls()
    }

    private func count(_ calls: UInt64) -> String { CountText.counted(calls, "call") }

    private func endLine() { writer.write(byte: UInt8(ascii: "\n")) }

    private func heading(_ text: String) {
        for line in layout.sentence(text).split(separator: "\n") {
            writer.write(in: layout.style(.bold)) { writer.write(String(line)) }
            endLine()
        }
    }

    /// Says what is not compared, or not recorded.
    private func writePartial() {
        if tail.partial.calls > 0 {
            writer.write(
                layout.sentence(
                    "… \(count(tail.partial.calls)) left out that did not begin and end in the recording, the longest at least "
                        + "\(String(time: tail.partial.longest))\n"))
        }
        if tail.dropped.calls > 0 {
            writer.write("… " as StaticString)
            writer.write(tail.dropped)
            writer.write(" (not recorded), which are their callers' own time\n" as StaticString)
        }
    }

    // MARK: Histogram

    private static let timeWidth = 11
    private static let callsWidth = 12
    private static let barWidth = 24

    private func writeHistogram() {
        writer.write(in: layout.style(.bold)) {
            for (heading, width) in [("from", Self.timeWidth), ("below", Self.timeWidth), ("calls", Self.callsWidth)] {
                writer.write(spaces: width - heading.utf8.count)
                writer.write(heading)
            }
        }
        endLine()
        let most = report.histogram.rows.map(\.calls).max() ?? 1
        let rows = report.histogram.rows
        for (index, row) in rows.enumerated() {
            // Of three empty rows or more, one line is left.
            let isEmpty = { (index: Int) in rows.indices.contains(index) && rows[index].calls == 0 }
            if isEmpty(index), isEmpty(index - 1), isEmpty(index + 1) {
                if !isEmpty(index - 2) { writer.write("          …\n" as StaticString) }
                continue
            }
            writer.write(time: row.from, width: Self.timeWidth)
            writer.write(time: row.to, width: Self.timeWidth)
            let calls = CountText.grouped(row.calls)
            writer.write(spaces: Self.callsWidth - calls.utf8.count)
            writer.write(calls)
            let remark = remark(on: row)
            if row.calls > 0 {
                writer.write(spaces: 2)
                // Rows of few calls are the ones that are looked for: none is without a bar.
                let eighths = Int((Double(row.calls) / Double(most) * Double(8 * Self.barWidth)).rounded())
                let isSlow = row.from >= tail.slow.durations.lowerBound
                writer.write(in: layout.style(isSlow ? .red : nil)) {
                    writer.write(bar: max(eighths, 1), width: remark.isEmpty ? 0 : Self.barWidth)
                }
                writer.write(in: layout.style(.dim)) { writer.write(remark) }
            }
            endLine()
        }
    }

    /// Which of the calls compared are in a row.
    private func remark(on row: DurationHistogram.Row) -> String {
        func overlaps(_ durations: ClosedRange<UInt64>) -> Bool {
            row.from <= durations.upperBound && row.to > durations.lowerBound
        }
        let names = [("typical", overlaps(tail.typical.durations)), ("slowest", overlaps(tail.slow.durations))]
        let found = names.filter(\.1).map(\.0).joined(separator: ", ")
        return found.isEmpty ? "" : "  \(found)"
    }

    // MARK: Summary

    /// Paths that add less than this part of the difference are not named above the tree, nor are more of them.
    private static let leastPart = 0.05
    private static let mostPaths = 5

    private func writeSummary() {
        func time(_ mean: Double) -> String { String(time: UInt64(max(mean, 0).rounded())) }
        let paths = tail.pathsByOwnDifference.prefix(Self.mostPaths).map { ($0, tail.path($0).ownDifference) }
            .filter { report.part($0.1) >= Self.leastPart }
        heading(
            "The slowest take \(time(tail.slow.mean)) on average, the typical ones \(time(tail.typical.mean)): "
                + "\(time(tail.difference)) more\(paths.isEmpty ? "" : ", most of it own time of")")
        for (index, difference) in paths {
            let columns = 8 + Self.timeWidth + 2
            writer.write(percent: report.part(difference), width: 8)
            writer.write(in: layout.style(.red)) { writer.write(mean: difference, width: Self.timeWidth) }
            writer.write(spaces: 2)
            writer.write(fit(tail.functions(ofPath: index), [], behind: columns).name)
            endLine()
        }
    }

    /// A path, and what follows it, with room behind `columns` that are taken. Where all paths begin with one function, it is not
    /// told; where there is no room for all names, the last ones are.
    private func fit(_ path: [UInt32], _ tails: [String], behind columns: Int) -> (name: String, tail: String) {
        let names = report.names(path.count > 1 && hasOneFunction ? Array(path.dropFirst()) : path)
        let texts = names.indices.map { ($0 > 0 ? "… → " : "") + names[$0...].joined(separator: " → ") }
        let room = layout.width.map { $0 - columns } ?? .max
        return layout.fit(texts.first { $0.columns <= room } ?? texts.last ?? "", tails, behind: columns)
    }

    private var hasOneFunction: Bool { Array(tail.roots.prefix(2)).count == 1 }

    // MARK: Calls

    private func writeCalls() {
        let calls = tail.slowest.prefix(report.options.calls)
        // A thread is told with its process where there are several.
        let hasProcesses = calls.contains { $0.thread.process.index != calls.first?.thread.process.index }
        func label(_ thread: ThreadLabel) -> String {
            hasProcesses
                ? "\(thread.process.pid) \(thread.process.programName) · \(thread.idAndName)" : thread.idAndName
        }
        let threads = Dictionary(calls.map { ($0.thread.key, $0.thread) }) { first, _ in first }.mapValues(label)
        let threadWidth = max(min(threads.values.map(\.columns).max() ?? 0, 32), "thread".columns)
        writer.write(in: layout.style(.bold)) {
            for heading in ["took", "began"] {
                writer.write(spaces: Self.timeWidth - heading.utf8.count)
                writer.write(heading)
            }
            writer.write("  thread" as StaticString)
            writer.write(spaces: threadWidth - "thread".columns)
            writer.write("  mostly in" as StaticString)
        }
        endLine()
        for call in calls where !writer.isClosed { write(call, threadWidth: threadWidth, threads) }
        if calls.count < tail.slowest.count { writer.write(TextLayout.more(tail.slowest.count - calls.count)) }
    }

    private func write(
        _ call: TailComparison.SlowCall, threadWidth: Int, _ threads: [ThreadLabel.Key: String]
    ) {
        writer.write(time: call.duration, width: Self.timeWidth)
        writer.write(time: call.start, width: Self.timeWidth)
        let thread = (threads[call.thread.key] ?? "").shortened(to: threadWidth)
        writer.write(spaces: 2)
        writer.write(thread)
        writer.write(spaces: threadWidth - thread.columns + 2)
        let state = call.isUnwound ? " (unwound)" : ""
        let taken = 2 * Self.timeWidth + threadWidth + 4 + state.columns
        let (name, mark) = fit(tail.causes[call.cause], marks(of: call), behind: taken)
        writer.write(name)
        writer.write(in: layout.style(.dim)) {
            writer.write(state)
            writer.write(mark)
        }
        endLine()
    }

    /// What is said of the mark before a call, the fullest text first.
    private func marks(of call: TailComparison.SlowCall) -> [String] {
        guard let mark = call.mark else { return [] }
        let text = "  after mark \(mark.name)"
        return ["\(text), \(String(time: call.start &- min(mark.moment, call.start))) before", text]
    }
}

extension ThreadLabel {
    fileprivate struct Key: Hashable {
        var process: UInt32
        var tid: UInt32
    }

    fileprivate var key: Key { Key(process: process.index, tid: tid) }
}
