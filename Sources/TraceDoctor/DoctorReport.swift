public import TraceText

/// A diagnosis as people and programs read it.
public struct DoctorReport: Report {
    private let diagnosis: Diagnosis

    private let width: Int?
    private let isColoured: Bool

    /// - Parameters:
    ///   - width: the columns of a line, which is broken between words; nil for any number.
    ///   - isColoured: whether states stand out by terminal escapes.
    public init(_ diagnosis: Diagnosis, width: Int? = nil, isColoured: Bool = false) {
        self.diagnosis = diagnosis
        self.width = width
        self.isColoured = isColoured
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    /// Writes a line for each finding, and below it how to change what is not as it could be.
    private func writeText(to writer: ByteWriter) {
        let widest = diagnosis.findings.map(\.subject.count).max() ?? 0
        let column = DoctorReport.stateWidth + 2 + widest + 2
        func fitted(_ text: String, _ column: Int) -> String {
            width.map { text.visible.wrapped(to: $0, indentation: column) } ?? text.visible
        }
        for finding in diagnosis.findings {
            writer.write(in: isColoured ? finding.state.style : nil) { writer.write(finding.state.rawValue) }
            writer.write(spaces: DoctorReport.stateWidth + 2 - finding.state.rawValue.count)
            writer.write(finding.subject)
            writer.write(spaces: widest + 2 - finding.subject.count)
            writer.write("\(fitted(finding.text, column))\n")
            guard let remedy = finding.remedy else { continue }
            writer.write(spaces: column)
            writer.write("→ \(fitted(remedy, column + 2))\n")
        }
    }

    /// The columns of the longest state.
    private static let stateWidth = Finding.State.limited.rawValue.count

    /// An object with the findings.
    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("ok", diagnosis.isWell)
            json.objects("findings", diagnosis.findings, .each) { finding in
                json.field("subject", finding.subject)
                json.field("state", finding.state.rawValue)
                json.field("text", finding.text)
                json.field("remedy", finding.remedy)
            }
        }
    }
}

extension Finding.State {
    fileprivate var style: TextStyle {
        switch self {
        case .ok: .green
        case .limited: .yellow
        case .no: .red
        }
    }
}
