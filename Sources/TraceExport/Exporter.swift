public import TraceText

/// Writes the calls of a session in the format of another tool.
public protocol Exporter {
    /// Writes all that `source` holds to `writer`, which is not flushed.
    ///
    /// - Returns: what was written, and what of it the format's viewers cannot take.
    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary

    /// Why the file is not to be written, and what helps, when it is beyond all measure; nil when it is not.
    func refusal(_ source: ExportSource) -> String?

    /// What the format's viewers take of calls; nil where files hold no calls, or are not for viewers.
    static var limit: ViewerLimit? { get }
}

extension Exporter {
    static var limit: ViewerLimit? { nil }

    public func refusal(_ source: ExportSource) -> String? { nil }
}
