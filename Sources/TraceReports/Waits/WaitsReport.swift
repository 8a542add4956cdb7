internal import TraceAnalysis
internal import TraceFile
public import TraceFindings
public import TraceText

/// Writes what threads waited for, and who made them go on.
public struct WaitsReport: Report {
    private let sums: WaitSums
    private let limit: Int
    private let longest: Int?
    private let layout: TextLayout
    private let locks: LockReport

    /// - Parameters:
    ///   - limit: rows to show.
    ///   - longest: how many single waits are shown instead of rows; nil: rows.
    public init(_ sums: WaitSums, limit: Int = .max, longest: Int? = nil, layout: TextLayout = TextLayout()) {
        self.sums = sums
        self.limit = limit
        self.longest = longest
        self.layout = layout
        locks = LockReport(rows: sums.locks, names: sums.names, layout: layout, limit: limit)
    }

    private var names: NamedWaits { sums.names }
    private var waits: Waits { sums.names.waits }
    private var rows: [WaitRows.Row] { sums.rows }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: longest == nil ? writeText(to: writer) : writeLongest(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    // MARK: Text

    private static let width = 11

    private enum Column: String, CaseIterable { case waits, total, longest, p50, p99 }

    private func heading(_ columns: [String], to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) {
            for column in columns {
                writer.write(spaces: Self.width - column.utf8.count)
                writer.write(column)
            }
            writer.write("  for" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func line(_ lead: String, _ text: String, path: String = "", to writer: ByteWriter) {
        layout.writeLine(lead, text, path: path, to: writer)
    }

    /// Writes a line that ends in where a thread was.
    private func line(
        _ indentation: String, _ words: String, at path: Int32, isEnd: Bool = false, to writer: ByteWriter
    ) {
        let names = names.path(path)
        if names.isEmpty {
            return line(indentation, words + (isEnd ? "at its end" : "outside of all recorded calls"), to: writer)
        }
        line(indentation, words + "in ", path: names.joined(separator: " → "), to: writer)
    }

    private func writeText(to writer: ByteWriter) {
        let columns = layout.chosen(of: Column.allCases, dropping: [.p50, .p99], names: .max) { _ in Self.width
        }
        heading(columns.map(\.rawValue), to: writer)
        let indentation = String(repeating: " ", count: columns.count * Self.width + 2)
        for row in rows.prefix(limit) where !writer.isClosed {
            for column in columns {
                switch column {
                case .waits: writer.write(grouped: row.calls, width: Self.width)
                case .total: writer.write(time: row.total, width: Self.width)
                case .longest: writer.write(time: row.longest, width: Self.width)
                case .p50: writer.write(time: row.p50, width: Self.width)
                case .p99: writer.write(time: row.p99, width: Self.width)
                }
            }
            line(
                "  ", names.named(row.kind, row.object, row.descriptor, row.name, of: row.thread) ?? row.kind.name,
                to: writer)
            line(indentation, "", at: row.path, to: writer)
            for waker in row.wakers.prefix(3) {
                let share = percent(waker.time, of: row.total)
                line(
                    indentation, "\(share) ended by \(names.thread(waker.thread)) ", at: waker.path,
                    isEnd: waker.isEnd, to: writer)
            }
            if row.wakers.count > 3 { line(indentation, "… \(row.wakers.count - 3) more wakers", to: writer) }
        }
        if rows.count > limit { writer.write(TextLayout.more(rows.count - limit)) }
        locks.writeText(to: writer)
        writeCrowd(to: writer)
    }

    /// Says how many threads wanted a CPU at once, where there were too few.
    private func writeCrowd(to writer: ByteWriter) {
        let most = waits.mostRunnable
        guard most > 1 else { return }
        let processors = sums.processors.map { "; the program had \($0) CPU\($0 == 1 ? "" : "s") to run on" } ?? ""
        writer.write("\nup to \(most) threads at once wanted a CPU and had none\(processors)\n")
    }

    private func percent(_ part: UInt64, of whole: UInt64) -> String {
        guard whole > 0 else { return "0 %" }
        return "\(Int((Double(part) * 100 / Double(whole)).rounded())) %"
    }

    private func writeLongest(to writer: ByteWriter) {
        heading(["began", "time"], to: writer)
        let indentation = String(repeating: " ", count: 2 * Self.width + 2)
        for wait in sums.longest(longest ?? 0) where !writer.isClosed {
            writer.write(time: wait.begin, width: Self.width)
            writer.write(time: wait.time, width: Self.width)
            let subject =
                names.named(wait.kind, wait.object, wait.descriptor, wait.name, of: wait.thread) ?? wait.kind.name
            line("  ", "\(subject), \(names.thread(wait.thread))", to: writer)
            line(indentation, "", at: wait.path, to: writer)
            if let wake = wait.wake.map({ waits.wakes[$0] }) {
                line(
                    indentation, "ended by \(names.thread(wake.thread)) ", at: wake.path, isEnd: wake.isEnd, to: writer)
            }
        }
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.objects("waits", rows.prefix(limit), .each) { row in
                names.writeFields(row.kind, row.object, row.descriptor, row.name, of: row.thread, json)
                json.field("calls", row.calls)
                json.field("total_ns", row.total)
                json.field("max_ns", row.longest)
                json.field("p50_ns", row.p50)
                json.field("p99_ns", row.p99)
                json.field("path", names.path(row.path))
                json.objects("wakers", row.wakers) { waker in
                    let share = row.total > 0 ? Double(waker.time) / Double(row.total) : 0
                    json.field("thread", waits.threads[waker.thread].tid)
                    json.field("path", names.path(waker.path))
                    json.field("at_end", waker.isEnd)
                    json.field("calls", waker.calls)
                    json.field("share", (share * 10000).rounded() / 10000)
                }
            }
            if longest != nil { writeLongest(json) }
            locks.writeFields(json.line())
            json.field("most_runnable", waits.mostRunnable)
            json.field("processors", sums.processors)
        }
    }

    private func writeLongest(_ json: JSONWriter) {
        json.objects("longest", sums.longest(longest ?? 0), .each) { wait in
            names.writeFields(wait.kind, wait.object, wait.descriptor, wait.name, of: wait.thread, json)
            json.field("thread", waits.threads[wait.thread].tid)
            json.field("start_ns", wait.begin)
            json.field("time_ns", wait.time)
            json.field("path", names.path(wait.path))
            if let wake = wait.wake.map({ waits.wakes[$0] }) {
                json.object("waker") {
                    json.field("thread", waits.threads[wake.thread].tid)
                    json.field("moment_ns", wake.moment)
                    json.field("path", names.path(wake.path))
                }
            }
        }
    }
}
