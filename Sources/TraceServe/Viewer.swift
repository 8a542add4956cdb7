internal import CMicrohttpd
internal import Glibc
internal import Synchronization
internal import TraceAnalysis
public import TraceFile
internal import TracePage
internal import TraceQuery
public import TraceSystem
internal import TraceText

/// Serves the page that shows a recording, and what the page asks for, to browsers on this machine.
public final class Viewer: Sendable {
    /// Why nothing can be served.
    public enum Problem: Error, CustomStringConvertible {
        case noLibrary(String)
        case noPort(UInt16, SystemError)
        case noThread

        public var description: String {
            switch self {
            case .noLibrary(let reason):
                "the page is served by libmicrohttpd, which cannot be loaded (Debian's package is libmicrohttpd12): \(reason)"
            case .noPort(let port, let error): "port \(port) of 127.0.0.1 cannot be taken: \(error.reason)"
            case .noThread: "the system has no thread for the server"
            }
        }
    }

    /// Where the page is. Whoever knows this address sees the recording.
    public let address: String
    /// The same for one visit: for programs whose arguments others may read.
    public let addressForOneVisit: String

    private let session: String
    private let page: [UInt8]
    private let admission: Admission
    private let ticket: Mutex<String?>
    private let pictures: (any PictureSource)?
    private let document = Later<SessionDocument>()
    private let events = Later<[UInt8]>()
    private let growth = Mutex(Growth())
    private let readingPart = Mutex(0.0)
    private let questions: AskQueue
    private let server = Mutex<HTTPServer?>(nil)

    /// Serves `session` until ``stop()``.
    ///
    /// - Parameters:
    ///   - path: where it is, absolute.
    ///   - pictures: what draws it, if there is something that does.
    ///   - port: 0 for any that is free.
    public init(
        _ session: sending Session, at path: String, pictures: (any PictureSource)? = nil, port: UInt16 = 0,
        limits: ServerLimits = ServerLimits()
    ) throws(Problem) {
        if let reason = http_load() { throw .noLibrary(String(cString: reason)) }
        let listening: Int32, taken: UInt16
        do throws(SystemError) {
            (listening, taken) = try HTTPServer.listen(on: port)
        } catch {
            throw .noPort(port, error)
        }
        self.session = path
        page = bytes { ViewPage.write(title: "\(PathText.name(path)) · Fathom", to: $0) }
        self.pictures = pictures
        admission = Admission(port: taken, token: SecretText.token())
        let visit = SecretText.token()
        ticket = Mutex(visit)
        address = "http://127.0.0.1:\(taken)/\(admission.token)/"
        addressForOneVisit = "http://127.0.0.1:\(taken)/\(visit)/"
        questions = AskQueue(most: 2)
        let server = HTTPServer(limits: limits) { [unowned self] in reply(to: $0, from: $1) }
        guard server.start(listening) else { throw .noThread }
        self.server.withLock { $0 = server }
        let handed = Handed(session: session)
        _ = BackgroundThread { [self] in read(handed.session) }
    }

    /// Ends all connections, and the processes that answer questions.
    public func stop() {
        questions.stop()
        document.giveUp()
        pictures?.stop()
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    /// A session that is another thread's from now on.
    private struct Handed: @unchecked Sendable { let session: Session }

    /// Finds out what the page asks for once, in a thread of its own, which alone uses the session.
    private func read(_ session: Session, after before: [PictureQuery.ThreadName] = []) {
        let begun = ContinuousClock.now
        var options = QueryOptions()
        options.lines = false
        let listener = QueryListener(progress: { [self] part in readingPart.withLock { $0 = part } })
        let query = SessionQuery(session, options, listener: listener)
        // Nothing is missing of everything.
        let threads = (try? PictureQuery.threads(of: query, after: before)) ?? []
        document.set(SessionDocument(of: session, tracks: threads))
        events.set(EventsDocument.bytes(of: query, tracks: threads))
        let tracks = threads.map(PictureQuery.ThreadName.init)
        growth.withLock { growth in
            growth.tracks = tracks
            growth.isReading = false
            growth.next = .now.advanced(by: max(.seconds(1), begun.duration(to: .now) * 4))
        }
    }

    /// How a recording that goes on is followed.
    private struct Growth: Sendable {
        /// The tracks that the page knows of.
        var tracks: [PictureQuery.ThreadName] = []
        var isReading = true
        /// When it is worth while to look again, so that most of the time is left to others.
        var next = ContinuousClock.now
    }

    /// Has a recording that goes on be read again, where that is due.
    private func grow() {
        guard document.present?.isRecording == true else { return }
        let before = growth.withLock { growth -> [PictureQuery.ThreadName]? in
            if growth.isReading || growth.next > .now { return nil }
            growth.isReading = true
            return growth.tracks
        }
        guard let before else { return }
        _ = BackgroundThread { [self] in
            // Each is used by one thread alone. Without a session, what is there stays.
            if let drawn = try? Session(path: session), pictures?.grow(to: drawn) ?? true,
                let told = try? Session(path: session)
            {
                read(told, after: before)
            } else {
                growth.withLock { growth in
                    growth.isReading = false
                    growth.next = .now.advanced(by: .seconds(1))
                }
            }
        }
    }

    private func reply(to request: Request, from client: Int32) -> Reply {
        if let refusal = admission.refusal(of: request) { return refusal }
        guard let target = admission.target(of: request) else { return visit(request, from: client) ?? .empty(404) }
        do throws(BadRequest) {
            let count: () throws(BadRequest) -> Int = { [document] () throws(BadRequest) in
                guard let document = document.wait() else { throw BadRequest("The viewer is ending.") }
                return document.tracks
            }
            guard let route = try Route(target, tracks: count) else { return .empty(404) }
            return reply(to: route, from: client)
        } catch {
            return .error(400, error.reason)
        }
    }

    /// Leads who has the ticket to the page, unless it is another user who has read it. Nobody can use it again.
    private func visit(_ request: Request, from client: Int32) -> Reply? {
        ticket.withLock { ticket in
            guard request.method == "GET", let text = ticket,
                Admission.rest(of: request.target, behind: "/\(text)/") == "",
                [geteuid(), 0].contains(PeerUser.id(of: client) ?? geteuid())
            else { return nil }
            ticket = nil
            var reply = Reply.empty(303)
            reply.further = [("Location", "/\(admission.token)/")]
            return reply
        }
    }

    private func reply(to route: Route, from client: Int32) -> Reply {
        switch route {
        case .page:
            return Reply(
                status: 200, type: "text/html; charset=utf-8", bytes: page, policy: ViewPage.policy)
        case .session:
            guard let document = document.wait() else { return .error(503, "The viewer is ending.") }
            grow()
            return .json(document.whole(summaries: pictures?.summaries ?? 0))
        case .events:
            if let events = events.present { return .json(events) }
            let part = readingPart.withLock { $0 }
            return Reply(status: 202, bytes: jsonBytes { json in json.object { json.field("progress", part) } })
        case .names(let first): return drawn { .json(try $0.names(from: first)) }
        case .picture(let request):
            return drawn { Reply(status: 200, type: "application/octet-stream", bytes: try $0.picture(request)) }
        case .call(let request):
            return drawn { try $0.call(request).map(Reply.json) ?? .error(404, "No call is open there.") }
        case .filter(let request, let first):
            return drawn { .json(try $0.filter(request.options, from: first)) }
        case .ask(let request):
            let turn = questions.enter(key: request.pane.map { "\(request.command) \($0)" })
            defer { questions.leave(turn) }
            let process = AskProcess(program: "/proc/self/exe", arguments: request.arguments(for: session))
            return Reply(process.run(turn, for: client), to: request)
        }
    }

    private func drawn(_ body: (any PictureSource) throws -> Reply) -> Reply {
        guard let pictures else { return .error(503, "This recording has no pictures.") }
        do { return try body(pictures) } catch { return .error(503, "\(error)") }
    }
}
