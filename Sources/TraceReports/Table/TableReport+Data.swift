internal import TraceAnalysis
internal import TraceFile
internal import TraceText

extension TableReport {
    /// The columns of JSON and CSV: all that is known.
    private var columns: [ReportColumn] {
        ReportColumn.allCases.filter {
            ($0.part == nil || split.isKnown) && (!$0.isOfMemory || split.knowsMemory)
                && (!$0.isOfFaults || split.knowsFaults)
        }
    }

    // MARK: JSON

    func writeJSON(to writer: ByteWriter) {
        let whole = samplePeriod == nil ? 0 : allRows.selfTimes.whole
        let json = writer.json
        json.document {
            times.writeFields(json)
            json.name(of: kind.rawValue)
            json.objects(rows, .each) { row in
                writeSubject(of: row, json)
                for column in columns {
                    json.name(of: column.key)
                    json.value(column == .runnable && !split.knowsRunnable ? nil : column.value(of: row))
                }
                if let error = times.error(of: row.total, in: row.calls, of: whole) { json.field("error_ns", error) }
                json.field("reliable", row.isReliable)
            }
        }
    }

    private func writeSubject(of row: AggregateRow, _ json: JSONWriter) {
        switch row.subject {
        case .function(let id): json.field("name", function(of: row)?.name ?? String(id))
        case .path(let index): json.field("path", names(ofPath: index))
        case .place(let place):
            switch kind {
            case .files: json.field("file", place)
            case .lines:
                let colon = place?.lastIndex(of: ":")
                json.field("file", colon.map { place![..<$0] }.map(String.init))
                json.field("line", colon.flatMap { Int(place![place!.index(after: $0)...]) })
            case .values: json.field("value", place)
            default: json.field("module", place)
            }
        case .thread(let thread):
            json.field("pid", thread.process.pid)
            json.field("program", thread.process.programName)
            json.field("tid", thread.tid)
            if let task = thread.task { json.field("task", task) }
            json.field("name", thread.name)
        case .process(let process):
            json.field("pid", process.pid)
            json.field("parent_pid", process.parentPID)
            json.field("program", process.programName)
            json.fields(called: process)
        }
        if let function = function(of: row) { json.fields(placeOf: function) }
    }

    // MARK: CSV

    /// One header line, then one line a row (RFC 4180, with newlines as line ends).
    func writeCSV(to writer: ByteWriter) {
        let hasFunctions = rows.first.map { function(of: $0) != nil } ?? true
        let text = ["name"] + (hasFunctions ? ["module", "file", "line"] : [])
        let columns = text + self.columns.map(\.key) + ["times", "reliable"]
        writer.write(columns.joined(separator: ",") + "\n")
        for row in rows where !writer.isClosed {
            writer.write(csv: name(of: row, separator: ";"))
            if let function = function(of: row) {
                for field in [function.module, function.file, function.file.map { _ in String(function.line) }] {
                    writer.write(byte: UInt8(ascii: ","))
                    writer.write(csv: field ?? "")
                }
            }
            for column in self.columns {
                writer.write(byte: UInt8(ascii: ","))
                if column == .runnable, !split.knowsRunnable { continue }
                writer.write(decimal: column.value(of: row))
            }
            writer.write(",\(times.name),\(row.isReliable)\n")
        }
    }
}
