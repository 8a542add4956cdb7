internal import TraceAnalysis
internal import TraceFindings
internal import TraceStatistics
internal import TraceText

extension DiffReport {
    /// Writes a table for a comment or summary, as GitHub, GitLab and others show it
    /// (https://github.github.com/gfm/#tables-extension-).
    func writeMarkdown(to writer: ByteWriter) {
        writeWhole(to: writer)
        let what = options.subject == .function ? "function" : "path"
        if !rows.isEmpty {
            writer.write("\n| \(what) | verdict | calls | change | self | after | change | total | after | change |\n")
            writer.write("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n" as StaticString)
        }
        for row in rows where !writer.isClosed {
            let calls = row.calls.sample
            let name = names(of: row).map(DiffReport.code).joined(separator: " → ")
            let verdict = row.verdict == .unknown ? "" : row.verdict.rawValue
            writer.write("| \(name) | \(verdict) | \(DiffReport.number(calls.before)) | \(DiffReport.change(calls))")
            for sample in [row.selfTime.sample, row.total.sample] {
                for time in [sample.before, sample.after] {
                    writer.write(" | " as StaticString)
                    writer.write(time: DiffReport.nanoseconds(time))
                }
                writer.write(" | \(DiffReport.percent(sample.relativeChange))")
            }
            writer.write(" |\n" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
        writeRest(to: writer)
    }

    /// A name as it is, whatever Markdown would make of its letters.
    static func code(_ name: String) -> String {
        var text = "<code>"
        for character in name.unicodeScalars {
            switch character {
            case "&", "<", ">", "|", "`", "*", "_", "~", "[", "]", "\\", "$", "@", "#": text += "&#\(character.value);"
            case "\n": text += " "
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "</code>"
    }
}
