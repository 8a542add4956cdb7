internal import CMicrohttpd
internal import Glibc
internal import Synchronization
internal import TracePage
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

    private let session: ViewedSession
    /// What it is compared with.
    private let before: ViewedSession?
    private let page: [UInt8]
    private let admission: Admission
    private let ticket: Mutex<String?>
    private let questions: AskQueue
    private let server = Mutex<HTTPServer?>(nil)

    /// Serves `session` until ``stop()``.
    ///
    /// - Parameters:
    ///   - before: what it is compared with, if it is.
    ///   - port: 0 for any that is free.
    public init(
        _ session: ViewedSession, before: ViewedSession? = nil, port: UInt16 = 0, limits: ServerLimits = ServerLimits()
    ) throws(Problem) {
        if let reason = http_load() { throw .noLibrary(String(cString: reason)) }
        let listening: Int32, taken: UInt16
        do throws(SystemError) {
            (listening, taken) = try HTTPServer.listen(on: port)
        } catch {
            throw .noPort(port, error)
        }
        self.session = session
        self.before = before
        page = bytes { ViewPage.write(title: "\(session.name) · Fathom", to: $0) }
        admission = Admission(port: taken, token: SecretText.token())
        let visit = SecretText.token()
        ticket = Mutex(visit)
        address = "http://127.0.0.1:\(taken)/\(admission.token)/"
        addressForOneVisit = "http://127.0.0.1:\(taken)/\(visit)/"
        questions = AskQueue(most: 2)
        let server = HTTPServer(limits: limits) { [unowned self] in reply(to: $0, from: $1) }
        guard server.start(listening) else { throw .noThread }
        self.server.withLock { $0 = server }
    }

    /// Ends all connections, and the processes that answer questions.
    public func stop() {
        questions.stop()
        session.stop()
        before?.stop()
        server.withLock { server in
            server?.stop()
            server = nil
        }
    }

    private func reply(to request: Request, from client: Int32) -> Reply {
        if let refusal = admission.refusal(of: request) { return refusal }
        guard let target = admission.target(of: request) else { return visit(request, from: client) ?? .empty(404) }
        var (viewed, rest) = (session, target)
        if let before, let behind = Admission.rest(of: String(target), behind: "before/"), !behind.isEmpty {
            (viewed, rest) = (before, behind)
        }
        do throws(BadRequest) {
            let count: () throws(BadRequest) -> Int = { () throws(BadRequest) in
                guard let document = viewed.document.wait() else { throw BadRequest("The viewer is ending.") }
                return document.tracks
            }
            guard let route = try Route(rest, tracks: count) else { return .empty(404) }
            return reply(to: route, of: viewed, from: client)
        } catch {
            return .error(400, error.reason)
        }
    }

    /// Leads who has the ticket to the page, unless it is another user who has read it. Nobody can use it again.
    private func visit(_ request: Request, from client: Int32) -> Reply? {
        ticket.withLock { ticket in
            guard request.method == "GET", let text = ticket,
                Admission.rest(of: request.target, behind: "/\(text)/") == "",
                PeerUser.isTrusted(client)
            else { return nil }
            ticket = nil
            var reply = Reply.empty(303)
            reply.further = [("Location", "/\(admission.token)/")]
            return reply
        }
    }

    private func reply(to route: Route, of viewed: ViewedSession, from client: Int32) -> Reply {
        switch route {
        case .page:
            return Reply(
                status: 200, type: "text/html; charset=utf-8", bytes: page, policy: ViewPage.policy)
        case .ask(let request):
            let arguments: [String]
            do throws(BadRequest) {
                let asked = request.isOfBoth ? session : viewed
                arguments = try request.arguments(for: asked.path, before: before?.path)
            } catch {
                return .error(400, error.reason)
            }
            let turn = questions.enter(key: request.pane.map { "\(request.command) \($0)" })
            defer { questions.leave(turn) }
            let process = AskProcess(program: "/proc/self/exe", arguments: arguments)
            return Reply(process.run(turn, for: client), to: request)
        case .session, .events, .source, .names, .picture, .waits, .call, .filter:
            return viewed.reply(to: route, compared: before.map { Compared(before: $0.name, after: session.name) })
        }
    }
}
