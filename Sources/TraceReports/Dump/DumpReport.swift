public import TraceAnalysis
public import TraceFile
public import TraceText

/// Writes every record of a thread in order, as text or as one JSON object a line.
public struct DumpReport {
    public enum Format: String, CaseIterable, Sendable { case text, jsonl }

    private let session: Session
    private let resolver: FunctionResolver
    private let format: Format
    private let showsChunks: Bool
    private let writer: ByteWriter
    private let layout: TextLayout

    public init(
        _ writer: ByteWriter, session: Session, resolver: FunctionResolver, format: Format, showsChunks: Bool,
        layout: TextLayout = TextLayout()
    ) {
        self.writer = writer
        self.session = session
        self.resolver = resolver
        self.format = format
        self.showsChunks = showsChunks
        self.layout = layout
    }

    /// Dumps `thread`.
    ///
    /// - Parameter progress: told how far reading is.
    /// - Returns: whether more can be written.
    /// - Complexity: O(records); nothing is kept but the stack.
    @discardableResult
    public func write(_ thread: TracedThread, _ progress: ReadingProgress? = nil) -> Bool {
        var sink = DumpSink(
            writer, thread, resolver.space(of: thread.process), isJSON: format == .jsonl, showsChunks: showsChunks,
            isFirst: session.content == .firstCalls, layout: layout)
        sink.header()
        progress?.begin(thread)
        StackReplay.run(
            thread, clock: session.clock, onChunk: progress.map { progress in { progress.read(chunk: $0) } },
            into: &sink)
        return !writer.isClosed
    }

    /// Tells, as a last line, what no thread's chunks tell.
    public func writeLosses() {
        guard session.losses.calls > 0 else { return }
        switch format {
        case .text:
            writer.write(byte: UInt8(ascii: "\n"))
            writer.write(in: layout.style(.yellow)) { writer.write("# \(session.losses)") }
            writer.write(byte: UInt8(ascii: "\n"))
        case .jsonl:
            writer.json.document {
                writer.json.field("kind", "lost")
                writer.json.field("calls", session.losses.calls)
            }
        }
    }
}
