internal import TraceAnalysis
internal import TraceFile
public import TraceFindings
public import TraceText

/// Writes what a stretch of time was spent on, over all threads that it waited for.
public struct ChainReport: Report {
    private let path: CriticalPath
    private let limit: Int
    private let layout: TextLayout

    /// - Parameter limit: parts to show, and functions.
    public init(_ path: CriticalPath, limit: Int = .max, layout: TextLayout = TextLayout()) {
        self.path = path
        self.limit = limit
        self.layout = layout
    }

    private var chain: Chain { path.chain }
    private var times: ChainTimes { path.times }
    private var rows: [ChainRows.Row] { path.rows }
    private var names: NamedWaits { path.names }
    private var waits: Waits { path.names.waits }
    private var functions: FunctionTable { path.names.functions }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    private var title: String {
        let what = path.call.map { "the longest call of \($0)" } ?? "the time"
        return
            "\(what), thread \(waits.threads[chain.thread].tid): \(String(time: total)) from \(String(time: chain.begin))"
    }

    private var total: UInt64 { chain.end &- chain.begin }

    private func share(_ time: UInt64) -> Double { total > 0 ? Double(time) / Double(total) : 0 }

    private func text(_ path: Int32) -> String { names.path(path).joined(separator: " → ") }

    /// What happened in a part, and where.
    private func text(_ row: ChainRows.Row) -> (words: String, path: String) {
        let thread = names.thread(row.thread)
        switch chain.links[row.link].kind {
        case .waited(let wait) where row.subject != .ran:
            return (
                "\(thread) waited \(times(row))for \(names.subject(waits.waits[wait]))\(besides(row)) in ",
                text(waits.waits[wait].path)
            )
        case .ran, .waited:
            let words = "\(thread) ran\(besides(row))"
            return row.longest.map { (words + ", mostly ", functions[$0].name) } ?? (words, "")
        case .woken(let wait):
            return ("\(thread) went on after \(names.subject(waits.waits[wait])) in ", text(waits.waits[wait].path))
        case .began(let origin):
            let (words, path) = ("\(thread) began, made by \(names.thread(origin.thread))", text(origin.path))
            return path.isEmpty ? (words, "") : (words + " in ", path)
        case .unknown: return ("\(thread) had not made its first call; what made it begin is not known", "")
        }
    }

    /// How often it waited, where that was more than once.
    private func times(_ row: ChainRows.Row) -> String {
        let count = row.sums[row.subject]?.count ?? 1
        return count > 1 ? "\(count) times " : ""
    }

    /// What the thread did beside the subject of the row.
    private func besides(_ row: ChainRows.Row) -> String {
        let others = row.others
        var parts: [String] = []
        if row.subject != .ran, row.ran > 0 { parts.append("ran \(String(time: row.ran))") }
        if row.wantedCPU.count > 0 { parts.append("wanted a CPU for \(String(time: row.wantedCPU.time))") }
        if others.count > 0 { parts.append("waited for others \(String(time: others.time))") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    // MARK: Text

    private static let width = 11

    private func writeText(to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) { writer.write(title) }
        writer.write(byte: UInt8(ascii: "\n"))
        writer.write("       from       time  share  \n" as StaticString)
        let shown = rows.suffix(limit)
        if shown.count < rows.count {
            writer.write("… \(rows.count - shown.count) earlier parts, --limit 0 shows all\n")
        }
        for part in shown where !writer.isClosed {
            writer.write(time: part.begin, width: Self.width)
            let (words, path) = text(part)
            row(part.end &- part.begin, words, path: path, to: writer)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        writer.write("       self      total  share  function\n" as StaticString)
        for share in times.shares.prefix(limit) where !writer.isClosed {
            writer.write(time: share.own, width: Self.width)
            row(share.total, path: functions[share.function].name, to: writer)
        }
        if times.shares.count > limit { writer.write(TextLayout.more(times.shares.count - limit)) }
        guard let without = path.without else { return }
        let end = String(time: total &- min(times.inside, total))
        writer.write("without \(without), at the earliest \(end) instead of \(String(time: total))\n")
    }

    private func row(_ time: UInt64, _ words: String = "", path: String, to writer: ByteWriter) {
        writer.write(time: time, width: Self.width)
        let percent = String(Int((share(time) * 100).rounded()))
        writer.write(spaces: 5 - percent.utf8.count)
        writer.write("\(percent) %  ")
        writer.write(layout.fit(words, path: path, behind: 2 * Self.width + 9))
        writer.write(byte: UInt8(ascii: "\n"))
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("thread", waits.threads[chain.thread].tid)
            json.field("from_ns", chain.begin)
            json.field("to_ns", chain.end)
            json.objects("links", rows, .each) { row in
                json.field("thread", waits.threads[row.thread].tid)
                json.field("from_ns", row.begin)
                json.field("to_ns", row.end)
                json.field("times", row.sums[row.subject]?.count ?? 1)
                json.field("ran_ns", row.ran)
                json.field("cpu_wait_ns", row.wantedCPU.time)
                json.field("other_waits_ns", row.others.time)
                switch chain.links[row.link].kind {
                case .waited(let wait) where row.subject != .ran: writeFields("waited", waits.waits[wait], json)
                case .ran, .waited:
                    json.field("what", "ran")
                    json.field("function", row.longest.map { functions[$0].name })
                case .woken(let wait): writeFields("woken", waits.waits[wait], json)
                case .began(let origin):
                    json.field("what", "began")
                    json.field("by", waits.threads[origin.thread].tid)
                    json.field("path", names.path(origin.path))
                case .unknown: json.field("what", "unknown")
                }
            }
            json.line().objects("functions", times.shares, .each) { share in
                json.field("name", functions[share.function].name)
                json.field("time_ns", share.total)
                json.field("self_ns", share.own)
                json.field("share", (self.share(share.total) * 10000).rounded() / 10000)
            }
            if let without = path.without {
                let inside = min(times.inside, total)
                json.line().object("without") {
                    json.field("function", without)
                    json.field("time_ns", inside)
                    json.field("earliest_end_ns", chain.end &- inside)
                }
            }
        }
    }

    private func writeFields(_ what: String, _ wait: Wait, _ json: JSONWriter) {
        json.field("what", what)
        names.writeFields(wait.kind, wait.object, wait.descriptor, wait.name, of: wait.thread, json)
        json.field("path", names.path(wait.path))
    }
}
