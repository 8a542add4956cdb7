public import TraceText

/// A diagnosis as people and programs read it.
public struct DoctorReport {
    private let diagnosis: Diagnosis

    public init(_ diagnosis: Diagnosis) { self.diagnosis = diagnosis }

    /// A line for each finding, and below it how to change what is not as it could be.
    public func writeText(to writer: ByteWriter) {
        let widest = diagnosis.findings.map(\.subject.count).max() ?? 0
        for finding in diagnosis.findings {
            let start = filled(finding.state.rawValue, 7) + "  " + filled(finding.subject, widest) + "  "
            writer.write("\(start)\(finding.text.visible)\n")
            if let remedy = finding.remedy { writer.write("\(filled("", start.count))→ \(remedy.visible)\n") }
        }
    }

    /// An object with the findings.
    public func writeJSON(to writer: ByteWriter) {
        writer.write("{\"ok\":\(diagnosis.isWell),\"findings\":[")
        for (index, finding) in diagnosis.findings.enumerated() {
            writer.write(index == 0 ? "\n{\"subject\":" : ",\n{\"subject\":" as StaticString)
            writer.write(json: finding.subject)
            writer.write(",\"state\":\"\(finding.state.rawValue)\",\"text\":")
            writer.write(json: finding.text)
            writer.write(",\"remedy\":" as StaticString)
            writer.write(json: finding.remedy)
            writer.write(byte: UInt8(ascii: "}"))
        }
        writer.write("]}\n" as StaticString)
    }

    private func filled(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
