internal import Synchronization
internal import TraceAnalysis
public import TraceFile
internal import TraceQuery
internal import TraceText

/// A session that a page shows, and what the page asks for once. All but pictures comes from a thread of its own, which alone
/// uses the session.
public final class ViewedSession: Sendable {
    /// Where it is, absolute.
    let path: String
    let pictures: (any PictureSource)?
    let document = Later<SessionDocument>()
    private let events = Later<[UInt8]>()
    private let sources = Later<SessionSources>()
    private let waits = Later<WaitsDocument>()
    private let areWaitsAsked = Mutex(false)
    private let growth = Mutex(Growth())
    private let readingPart = Mutex(0.0)

    /// What it is called.
    var name: String { PathText.name(path) }

    /// A session that is another thread's from now on.
    private struct Handed: @unchecked Sendable { let session: Session }

    /// - Parameters:
    ///   - path: where it is, absolute.
    ///   - pictures: what draws it, if there is something that does.
    public init(_ session: sending Session, at path: String, pictures: (any PictureSource)? = nil) {
        self.path = path
        self.pictures = pictures
        let handed = Handed(session: session)
        _ = BackgroundThread { [self] in read(handed.session) }
    }

    /// Who waits for something is not to wait any longer.
    func stop() {
        document.giveUp()
        sources.giveUp()
        pictures?.stop()
    }

    /// How a recording that goes on is followed.
    private struct Growth: Sendable {
        /// The tracks that the page knows of.
        var tracks: [PictureQuery.ThreadName] = []
        var isReading = true
        /// When it is worth while to look again, so that most of the time is left to others.
        var next = ContinuousClock.now
    }

    /// - Parameter tracks: those that the page knows of, if this is not the first time.
    private func read(_ session: Session, after tracks: [PictureQuery.ThreadName]? = nil) {
        let begun = ContinuousClock.now
        var options = QueryOptions()
        options.lines = false
        let listener = QueryListener(progress: { [self] part in readingPart.withLock { $0 = part } })
        let query = SessionQuery(session, options, listener: listener)
        // Nothing is missing of everything.
        let threads = (try? PictureQuery.threads(of: query, after: tracks ?? [])) ?? []
        let names = threads.map(PictureQuery.ThreadName.init)
        var isDrawn = true
        let new = SessionDocument(of: session, tracks: threads)
        if tracks == nil {
            document.set(new)
            pictures?.begin(order: names)
        } else if let pictures {
            // What is opened later has all that this has.
            if let drawn = try? Session(path: path) {
                isDrawn = pictures.grow(to: drawn, order: names)
            } else {
                isDrawn = false
            }
        }
        if isDrawn {
            // Source files are told of as they are when it ends.
            if tracks == nil || !session.isRecording { sources.set(SessionSources(session)) }
            events.set(EventsDocument.bytes(of: query, tracks: threads))
            // Last, because the page asks for the rest as soon as it knows of it.
            document.set(new)
        }
        growth.withLock { growth in
            if isDrawn { growth.tracks = names }
            growth.isReading = false
            growth.next = .now.advanced(by: max(.seconds(1), begun.duration(to: .now) * 4))
        }
    }

    /// Has a recording that goes on be read again, where that is due.
    private func grow() {
        guard document.present?.isRecording == true else { return }
        let tracks = growth.withLock { growth -> [PictureQuery.ThreadName]? in
            if growth.isReading || growth.next > .now { return nil }
            growth.isReading = true
            return growth.tracks
        }
        guard let tracks else { return }
        _ = BackgroundThread { [self] in
            // Without a session, what is there stays.
            if let session = try? Session(path: path) { return read(session, after: tracks) }
            growth.withLock { growth in
                growth.isReading = false
                growth.next = .now.advanced(by: .seconds(1))
            }
        }
    }

    /// The answer to what is asked of the session itself.
    ///
    /// - Parameter compared: what is compared, if it is one of two.
    func reply(to route: Route, compared: Compared?) -> Reply {
        switch route {
        case .session:
            guard let document = document.wait() else { return .error(503, "The viewer is ending.") }
            grow()
            return .json(document.whole(summaries: pictures?.summaries ?? 0, compared: compared))
        case .events:
            return events.present.map(Reply.json) ?? .unfinished(readingPart.withLock { $0 })
        case .waits(let request):
            if let waits = waits.present {
                return .json(waits.bytes(in: request.time, tracks: request.tracks, most: ViewedSession.mostWaits))
            }
            findWaits()
            return .unfinished(0)
        case .source(let file):
            guard let sources = sources.wait() else { return .error(503, "The viewer is ending.") }
            return SourceDocument.reply(with: file, of: sources)
        case .names(let first): return drawn { .json(try $0.names(from: first)) }
        case .picture(let request):
            return drawn { Reply(status: 200, type: "application/octet-stream", bytes: try $0.picture(request)) }
        case .call(let request):
            return drawn { try $0.call(request).map(Reply.json) ?? .error(404, "No call is open there.") }
        case .filter(let request, let first):
            return drawn { .json(try $0.filter(request.options, from: first)) }
        case .page, .ask: return .empty(404)
        }
    }

    /// Waits that are told at once.
    private static let mostWaits = 5000

    /// Reads all records for waits, where somebody asks for these and nobody has. Of a recording that goes on, waits would be without
    /// what ends them.
    private func findWaits() {
        guard document.present?.isRecording == false, growth.withLock({ !$0.isReading }) else { return }
        let isFirst = areWaitsAsked.withLock { isAsked in
            defer { isAsked = true }
            return !isAsked
        }
        guard isFirst else { return }
        let known = growth.withLock { $0.tracks }
        _ = BackgroundThread { [self] in
            guard let session = try? Session(path: path) else { return }
            let query = SessionQuery(session, QueryOptions())
            guard let tracks = try? PictureQuery.threads(of: query, after: known) else { return }
            waits.set(WaitsDocument(of: query, tracks: tracks))
        }
    }

    private func drawn(_ body: (any PictureSource) throws -> Reply) -> Reply {
        guard let pictures else { return .error(503, "This recording has no pictures.") }
        do { return try body(pictures) } catch { return .error(503, "\(error)") }
    }
}

/// What the sessions are called that are compared.
struct Compared: Sendable {
    let before: String
    let after: String
}
