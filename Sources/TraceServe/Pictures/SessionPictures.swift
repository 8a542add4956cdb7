internal import Synchronization
internal import TraceAnalysis
public import TraceFile
internal import TraceQuery
internal import TraceText

/// The pictures of a session: of chunks at first, and of summaries as soon as these are made, in the background.
public final class SessionPictures: PictureSource {
    private let made = Later<Pictures>()
    private let problem = Mutex("The viewer is ending.")
    private let progress = Mutex(0.0)

    /// What one thread at a time uses.
    private final class Pictures: @unchecked Sendable {
        let query: PictureQuery
        private let turn = Mutex(())

        init(_ query: PictureQuery) { self.query = query }

        func use<Result>(_ body: (PictureQuery) throws -> Result) rethrows -> Result {
            try turn.withLock { _ in try body(query) }
        }
    }

    /// A session that is another thread's from now on.
    private struct Handed: @unchecked Sendable { let session: Session }

    /// - Parameter session: is not used by anybody else any more.
    public init(_ session: sending Session) {
        let handed = Handed(session: session)
        _ = BackgroundThread { [self] in make(handed.session) }
    }

    private func make(_ session: Session) {
        do throws(QueryError) {
            var options = QueryOptions()
            options.showsCompilerMade = true  // rows are depths of all calls
            let query = try PictureQuery(SessionQuery(session, options))
            let pictures = Pictures(query)
            // What was put together from several threads is read by one at a time.
            let isJoined = pictures.query.threads.contains { $0.isJoined }
            if !isJoined { made.set(pictures) }
            let summaries = pictures.query.prepare { [self] part in progress.withLock { $0 = part } }
            pictures.use { query in if let summaries { query.use(summaries) } }
            progress.withLock { $0 = 1 }
            made.set(pictures)
        } catch {
            problem.withLock { $0 = "\(error)" }
            made.giveUp()
        }
    }

    public func stop() { made.giveUp() }

    private struct Missing: Error, CustomStringConvertible { let description: String }

    private func drawn<Result>(_ body: (PictureQuery) throws -> Result) throws -> Result {
        guard let pictures = made.wait() else { throw Missing(description: problem.withLock { $0 }) }
        return try pictures.use(body)
    }

    public var summaries: Double { progress.withLock { $0 } }

    public func picture(_ request: PictureRequest) throws -> [UInt8] {
        try drawn { PictureBytes.of($0, request, isPreliminary: summaries < 1) }
    }

    public func names(from first: Int) throws -> [UInt8] {
        try drawn { FunctionsDocument.bytes(of: $0.query.functions, from: first) }
    }

    public func call(_ request: CallRequest) throws -> [UInt8]? {
        try drawn { CallDocument.bytes(of: $0, request) }
    }
}
