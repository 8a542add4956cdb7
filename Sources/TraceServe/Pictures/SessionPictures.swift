internal import Synchronization
public import TraceAnalysis
public import TraceFile
public import TraceQuery
internal import TraceText

/// The pictures of a session: of chunks at first, and of summaries as soon as these are made, in the background.
///
/// One thread at a time uses what makes them.
public final class SessionPictures: PictureSource {
    private let made = Later<Pictures>()
    private let turn = Mutex(())
    private let problem = Mutex("The viewer is ending.")
    private let progress = Mutex(0.0)
    private let filter: @Sendable ([String]) throws -> TreeFilter

    /// What is used by who has the turn.
    private struct Pictures: @unchecked Sendable { let query: PictureQuery }

    /// A session that is another thread's from now on.
    private struct Handed: @unchecked Sendable { let session: Session }
    /// What is drawn first; it is not kept longer than it is needed.
    private let first: Mutex<Handed?>

    /// - Parameters:
    ///   - session: is not used by anybody else any more.
    ///   - filter: what options of the command line mean.
    public init(_ session: sending Session, filter: @escaping @Sendable ([String]) throws -> TreeFilter) {
        self.filter = filter
        first = Mutex(Handed(session: session))
    }

    public func begin(order: [PictureQuery.ThreadName]) {
        guard let handed = first.withLock({ $0.take() }) else { return }
        _ = BackgroundThread { [self] in make(handed.session, order) }
    }

    private func make(_ session: Session, _ order: [PictureQuery.ThreadName]) {
        do throws(QueryError) {
            let query = try SessionPictures.query(session, order)
            // What was put together from several threads is read by one at a time.
            let isJoined = query.threads.contains { $0.isJoined }
            if !isJoined { made.set(Pictures(query: query)) }
            // It is all there once it is used.
            let prepared = query.prepare { [self] part in progress.withLock { $0 = min(part, 0.99) } }
            turn.withLock { _ in if let prepared { query.use(prepared) } }
            progress.withLock { $0 = 1 }
            made.set(Pictures(query: query))
        } catch {
            problem.withLock { $0 = "\(error)" }
            made.giveUp()
        }
    }

    private static func query(
        _ session: Session, _ order: [PictureQuery.ThreadName]
    ) throws(QueryError) -> PictureQuery {
        var options = QueryOptions()
        options.showsCompilerMade = true  // rows are depths of all calls
        return try PictureQuery(SessionQuery(session, options), order: order)
    }

    /// From now on, draws the same recording as it is now. Tracks and functions keep their numbers.
    ///
    /// - Parameters:
    ///   - session: is not used by anybody else any more.
    ///   - order: the tracks.
    /// - Returns: whether that can be: not while the summaries of the first moment are being made.
    public func grow(to session: sending Session, order: [PictureQuery.ThreadName]) -> Bool {
        guard summaries == 1, let before = made.present?.query,
            let query = try? SessionPictures.query(session, order)
        else { return false }
        let prepared = query.prepare(after: before) { _ in }
        let table = before.query.functions
        // What takes long is done before others have to wait.
        let known = turn.withLock { _ in (table.functions, table.modules) }
        query.query.functions.number(known.0, of: known.1)
        turn.withLock { _ in
            query.query.functions.number(table.functions, of: table.modules)
            if let prepared { query.use(prepared) }
            made.set(Pictures(query: query))
        }
        return true
    }

    public func stop() { made.giveUp() }

    private struct Missing: Error, CustomStringConvertible { let description: String }

    private static let behind = Missing(description: "This track is not drawn yet.")

    private func drawn<Result>(_ body: (PictureQuery) throws -> Result) throws -> Result {
        guard made.wait() != nil else { throw Missing(description: problem.withLock { $0 }) }
        return try turn.withLock { _ in
            guard let pictures = made.present else { throw Missing(description: problem.withLock { $0 }) }
            return try body(pictures.query)
        }
    }

    public var summaries: Double { progress.withLock { $0 } }

    public func picture(_ request: PictureRequest) throws -> [UInt8] {
        try drawn { pictures in
            guard request.tracks.allSatisfy(pictures.threads.indices.contains) else { throw SessionPictures.behind }
            return PictureBytes.of(pictures, request, isPreliminary: summaries < 1)
        }
    }

    public func names(from first: Int) throws -> [UInt8] {
        try drawn { FunctionsDocument.bytes(of: $0.query.functions, from: first) }
    }

    public func filter(_ words: [String], from first: Int) throws -> [UInt8] {
        let filter = try filter(words)
        return try drawn { FilterDocument.bytes(of: filter, $0.query.functions, from: first) }
    }

    public func call(_ request: CallRequest) throws -> [UInt8]? {
        try drawn { pictures in
            guard pictures.threads.indices.contains(request.track) else { throw SessionPictures.behind }
            return CallDocument.bytes(of: pictures, request)
        }
    }
}
