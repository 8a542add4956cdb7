internal import TraceAnalysis
internal import TraceFile
internal import TraceText

extension TableReport {
    // MARK: Text

    static let columnWidth = 10
    /// Of how far a time of samples may be off.
    private static let errorWidth = 9

    func writeText(to writer: ByteWriter) {
        let isAsked = layout.isColoured || samplePeriod != nil || split.isKnown
        let selfTimes = isAsked ? allRows.selfTimes : (whole: 0, blocked: 0)
        let columns = textColumns(showsWaits: split.tellsWaits(selfTimes.blocked, in: selfTimes.whole))
        let callsWidth = self.callsWidth
        let nameColumn =
            columns.reduce(0) { $0 + ($1 == .calls ? callsWidth : TableReport.columnWidth) }
            + (samplePeriod != nil && keepsTimes ? TableReport.errorWidth : 0)
            + 2
        let whole = selfTimes.whole
        writer.write(in: layout.style(.bold)) {
            for column in columns {
                if column == .calls { writer.write(spaces: callsWidth - TableReport.columnWidth) }
                TableReport.writeHeading(column == .calls ? times.calls : column.rawValue, to: writer)
                if column == .total, samplePeriod != nil { writer.write("        ±" as StaticString) }
            }
            let (name, remark) = layout.fit(heading, times.headings, behind: nameColumn)
            writer.write("  \(name)\(remark)")
        }
        writer.write(byte: UInt8(ascii: "\n"))
        let form = layout.commonForm(of: rows.bare.map { (shownName(of: $0), places(of: $0)) }, behind: nameColumn)
        for row in rows where !writer.isClosed {
            let waiting = layout.waiting(row.selfOffCPU, in: row.selfTime)
            for column in columns {
                let value = column.value(of: row)
                switch column.unit {
                case .bytes: TableReport.writeHeading(CountText.size(value, unit: "B"), to: writer)
                case .count:
                    writer.write(grouped: value, width: column == .calls ? callsWidth : TableReport.columnWidth)
                case .time:
                    let style = waiting ?? layout.heat(row.selfRunning, of: whole &- selfTimes.blocked)
                    writer.write(in: column == .self ? style : nil) {
                        writer.write(time: value, width: TableReport.columnWidth)
                    }
                }
                if column == .total, let error = times.error(of: row.total, in: row.calls, of: whole) {
                    writer.write(time: error, width: TableReport.errorWidth)
                }
            }
            writer.write(byte: UInt8(ascii: " "))
            writer.write(row.isReliable || !keepsTimes ? " " : TimesText.mark)
            let (name, place) = layout.fit(
                shownName(of: row), Array(places(of: row).dropFirst(form)), behind: nameColumn)
            writer.write(in: waiting) { writer.write(name) }
            writer.write(in: layout.style(.dim)) { writer.write(place) }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        writeText(below: columns, to: writer)
    }

    /// Writes the lines below the rows.
    private func writeText(below columns: [ReportColumn], to writer: ByteWriter) {
        if allRows.count > rows.count { writer.write(TextLayout.more(allRows.count - rows.count)) }
        if dropped.calls > 0 {
            writer.write("… " as StaticString)
            writer.write(dropped)
            writer.write(" (not recorded)\n" as StaticString)
        }
        if columns.contains(.inherited) { writer.write(layout.sentence(TableReport.inheritedLegend)) }
        if keepsTimes, rows.contains({ !$0.isReliable }) { writer.write(layout.sentence(TimesText.legend)) }
    }

    /// The columns that the numbers of calls take.
    private var callsWidth: Int {
        max(CountText.grouped(rows.bare.map(\.calls).max() ?? 0).utf8.count + 1, TableReport.columnWidth)
    }

    /// The columns of numbers: those that hold something and, where lines have a width, that leave room for names.
    ///
    /// - Parameter showsWaits: whether there is waiting that is to be shown without being asked for.
    private func textColumns(showsWaits: Bool) -> [ReportColumn] {
        if !keepsTimes { return [.calls] }
        if samplePeriod != nil { return [.calls, .total, .self] }
        // What tasks are suspended is part of what is blocked.
        let hasSuspended = !showsWaits && rows.contains { $0.suspended > 0 }
        let parts = showsWaits ? [.blocked] : split.columns
        let hasInherited = rows.contains { $0.inherited > 0 }
        let columns = ReportColumn.allCases.filter { column in
            switch column {
            case .suspended: hasSuspended
            case .inherited: hasInherited
            case .inheritedCalls: false
            case .allocations, .bytes, .selfBytes, .live, .selfLive: split.knowsMemory
            case .liveBlocks: false
            case .minorFaults, .selfMinorFaults, .majorFaults, .selfMajorFaults: split.knowsFaults
            case .running, .blocked, .runnable: column.part.map { parts.contains($0) } ?? true
            default: true
            }
        }
        guard layout.width != nil else { return columns }
        let widest = rows.bare.map { shownName(of: $0).columns + (places(of: $0).first?.columns ?? 0) }.max() ?? 0
        let names = max(widest, heading.columns + times.headings[0].columns)
        func dropping(_ columns: [ReportColumn]) -> [ReportColumn] { columns.filter { order != .number($0) } }
        let kept = layout.chosen(of: columns, dropping: dropping(ReportColumn.firstToGo), names: names) { _ in
            TableReport.columnWidth
        }
        let least = min(names, TextLayout.leastName)
        let few = layout.chosen(of: kept, dropping: dropping(ReportColumn.lastToGo), names: least) { _ in
            TableReport.columnWidth
        }
        // On the narrowest terminals names go before numbers, too.
        let shortest = min(names, TextLayout.shortestName)
        return layout.chosen(of: few, dropping: dropping([.self, .calls]), names: shortest) { _ in
            TableReport.columnWidth
        }
    }

    private func shownName(of row: AggregateRow) -> String {
        let name = name(of: row, separator: " → ")
        if case .place = row.subject, kind != .values { return layout.path(name) }
        return name
    }

    /// Where a row's function is, the fullest first.
    private func places(of row: AggregateRow) -> [String] {
        guard let function = function(of: row) else { return [] }
        return layout.places(of: function)
    }

    private static let inheritedLegend = """
        inherited: the part of the total in calls that were open already when their process was forked or recording began, \
        such as main in a fork's child; they count where they were entered, so calls, avg and what follows are without them

        """

    private var heading: String {
        switch kind {
        case .functions: "function"
        case .paths: "path"
        case .files: "file"
        case .lines: "line of calls"
        case .modules: "module"
        case .threads: "process · thread"
        case .processes: "process"
        case .callers: "caller"
        case .callees: "callee"
        case .values: "value"
        }
    }

    static func writeHeading(_ text: String, to writer: ByteWriter) {
        writer.write(spaces: columnWidth - text.utf8.count)
        writer.write(text)
    }
}
