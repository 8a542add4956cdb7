internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

/// Writes who held the locks that threads waited for, and how threads queued up for them.
struct LockReport {
    let rows: [LockRows.Row]
    let names: NamedWaits
    let layout: TextLayout
    let limit: Int

    private func object(_ row: LockRows.Row) -> String? {
        names.object(.call(row.kind), row.object, -1, of: row.thread)
    }

    // MARK: Text

    private static let width = 11

    /// Nothing where no lock was waited for.
    func writeText(to writer: ByteWriter) {
        guard !rows.isEmpty else { return }
        writer.write(byte: UInt8(ascii: "\n"))
        writer.write(in: layout.style(.bold)) {
            writer.write("       held      total    longest  lock, held while others waited for it" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        let indentation = String(repeating: " ", count: 3 * Self.width + 2)
        for row in rows.prefix(limit) where !writer.isClosed {
            writer.write(grouped: row.calls, width: Self.width)
            writer.write(time: row.held, width: Self.width)
            writer.write(time: row.longest, width: Self.width)
            layout.writeLine("  ", object(row) ?? "lock", to: writer)
            if row.unknown > 0 {
                layout.writeLine(indentation, "\(row.unknown) of these for a time that is not known", to: writer)
            }
            for holder in row.holders.prefix(3) {
                let place = names.path(holder.path).joined(separator: " → ")
                let share = row.held > 0 ? Int((Double(holder.total) * 100 / Double(row.held)).rounded()) : 0
                layout.writeLine(
                    indentation, "\(share) % by \(names.thread(holder.thread)) in ", path: place, to: writer)
            }
            if row.holders.count > 3 {
                layout.writeLine(indentation, "… \(row.holders.count - 3) more holders", to: writer)
            }
            let convoy = row.convoy
            guard convoy.waits > 1 else { continue }
            layout.writeLine(
                indentation,
                "longest convoy: \(String(time: convoy.end &- convoy.begin)) from \(String(time: convoy.begin)), "
                    + "\(convoy.waits) waits of \(convoy.threads) threads, up to \(convoy.most) at once", to: writer)
        }
        if rows.count > limit { writer.write(TextLayout.more(rows.count - limit)) }
    }

    // MARK: JSON

    func writeFields(_ json: JSONWriter) {
        json.objects("locks", rows.prefix(limit), .each) { row in
            json.field("object", object(row))
            json.field("waits", row.waits)
            json.field("waited_ns", row.waited)
            json.object("held") {
                json.field("calls", row.calls)
                json.field("unknown", row.unknown)
                json.field("total_ns", row.held)
                json.field("max_ns", row.longest)
            }
            json.objects("holders", row.holders) { holder in
                json.field("thread", names.waits.threads[holder.thread].tid)
                json.field("path", names.path(holder.path))
                json.field("calls", holder.calls)
                json.field("total_ns", holder.total)
                json.field("max_ns", holder.longest)
            }
            json.object("convoy") {
                json.field("from_ns", row.convoy.begin)
                json.field("time_ns", row.convoy.end &- row.convoy.begin)
                json.field("waits", row.convoy.waits)
                json.field("threads", row.convoy.threads)
                json.field("most", row.convoy.most)
            }
        }
    }
}
