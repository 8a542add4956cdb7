public import TraceText

/// Writes the calls of a session in the format of another tool.
public protocol Exporter {
    /// Writes all that `source` holds to `writer`, which is not flushed.
    ///
    /// - Returns: what was written.
    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary

    /// Tells why the file is not written, and what helps, when it would be far too large; nil when it would not.
    func refusal(_ source: ExportSource) -> String?

    /// How many calls the format's viewers take; nil where files hold no calls, or are not for viewers.
    static var limit: ViewerLimit? { get }
}

extension Exporter {
    static var limit: ViewerLimit? { nil }

    public func refusal(_ source: ExportSource) -> String? { nil }
}
