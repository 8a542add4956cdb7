public import TraceText

/// Hangs of the same kind with the same stack as one line, the most frequent first.
public struct HangList: Report {
    public struct Row: Equatable {
        public var kind: String
        public var program: String
        public var path: [String]
        public var count = 0
        public var total: UInt64 = 0
        public var longest: UInt64 = 0
    }

    public let rows: [Row]

    private struct Key: Hashable {
        var kind: String
        var program: String
        var path: [String]
    }

    private let layout: TextLayout

    public init(_ hangs: [HangSummary], layout: TextLayout = TextLayout()) {
        self.layout = layout
        var rows: [Key: Row] = [:]
        for hang in hangs {
            let key = Key(kind: hang.kind, program: hang.program, path: hang.path)
            var row = rows[key] ?? Row(kind: hang.kind, program: hang.program, path: hang.path)
            row.count += 1
            row.total += hang.duration
            row.longest = max(row.longest, hang.duration)
            rows[key] = row
        }
        self.rows = rows.values.sorted {
            ($1.count, $1.total, $0.kind, $0.program, $0.path.joined(separator: "\n"))
                < ($0.count, $0.total, $1.kind, $1.program, $1.path.joined(separator: "\n"))
        }
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    private func writeText(to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) {
            writer.write("#  count      total    longest  kind      program: stack" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        for row in rows {
            writer.write(decimal: UInt64(row.count), width: 8)
            writer.write(time: row.total, width: 11)
            writer.write(time: row.longest, width: 11)
            let words = "  \(row.kind.padded(to: 8))  \(row.program): "
            writer.write(layout.fit(words, path: row.path.joined(separator: " → "), behind: 30))
            writer.write(byte: UInt8(ascii: "\n"))
        }
    }

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.objects(rows, .allButFirst) { row in
            json.field("kind", row.kind)
            json.field("program", row.program)
            json.field("count", row.count)
            json.field("total_ns", row.total)
            json.field("longest_ns", row.longest)
            json.field("path", row.path)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}
