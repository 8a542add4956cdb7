public import TraceFile
public import TracePage
internal import TraceQuery
public import TraceText

/// The page of a recording with all that it shows inside, for who has neither the recording nor Fathom.
public struct SavedPage {
    /// How fine the timeline is: calls that are shorter, in ns, are told together. 0 where each call is told; nil where the recording
    /// keeps no calls.
    public let finest: UInt64?
    private static let mostWaits = 20_000
    private let title: String
    private let article: ViewArticle?
    private let content: FrozenContent

    /// Finds out all that the page shows.
    ///
    /// - Parameters:
    ///   - path: where the session is, absolute.
    ///   - size: bytes that the page may have, or little more.
    ///   - article: the first pane, if there is one that Swift writes.
    ///   - progress: told what is done, and how much of that, 0...1.
    /// - Throws: where the session cannot be read.
    public init(
        _ session: Session, at path: String, size: Int = FrozenContent.usualSize, article: ViewArticle? = nil,
        progress: @escaping (_ part: Double) -> Void = { _ in }
    ) throws {
        var options = QueryOptions()
        options.showsCompilerMade = true  // rows are depths of all calls
        let query = SessionQuery(session, options)
        let threads = try query.selected().flatMap(\.threads)
        title = "\(PathText.name(path)) · Fathom"
        var content = FrozenContent(
            session: SessionDocument(of: session, tracks: threads).whole(summaries: 1, compared: nil))
        content.events = EventsDocument.bytes(of: query, tracks: threads)
        SavedAnswers(session: session, path: path, most: size / 4, progress: { progress($0 / 2) }).add(to: &content)
        if session.description?.waitSources?.tellsCauses == true {
            content.waits = WaitsDocument(of: query, tracks: threads).bytes(
                in: 0..<UInt64.max, most: SavedPage.mostWaits)
        }
        let spans = threads.filter { $0.countCalls() > 0 }.map { $0.span(session.clock) }
        let time = (spans.map(\.lowerBound).min() ?? 0)..<(spans.map(\.upperBound).max() ?? 0)
        if session.content == .calls, !time.isEmpty {
            let pictures = try PictureQuery(query)
            if let prepared = pictures.prepare(progress: { _ in }) { pictures.use(prepared) }
            let room = max(size - content.sizeOfAnswers - (1 << 17), size / 4)
            content.timeline = SavedTimeline(
                pictures: pictures, room: room, time: time, progress: { progress(0.5 + $0 / 2) }
            ).timeline()
        }
        content.names = FunctionsDocument.bytes(of: query.functions, from: 0)
        finest = content.timeline?.finest
        self.content = content
        self.article = article
        progress(1)
    }

    public func write(to writer: ByteWriter) {
        ViewPage.write(title: title, to: writer, content: content, article: article)
    }
}
