/// What a command shows, in each of the formats that it can be asked for in.
public protocol Report {
    /// Text, for people, is `text`.
    associatedtype Format: RawRepresentable<String> = ReportFormat

    /// Writes it all to `writer`, which is not flushed.
    func write(_ format: Format, to writer: ByteWriter)
}

/// The formats of most reports.
public enum ReportFormat: String, CaseIterable, Sendable { case text, json }
