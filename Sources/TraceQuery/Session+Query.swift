public import TraceFile

extension Session {
    /// Opens the session at `path`.
    ///
    /// - Parameter readsCalls: see ``Session/init(path:readsCalls:)``.
    public static func opened(_ path: String, readsCalls: Bool = true) throws(QueryError) -> Session {
        do throws(TraceFileError) {
            return try Session(path: path, readsCalls: readsCalls)
        } catch {
            throw .unreadable(error)
        }
    }

    /// What the recording lacks: what was found damaged so far, and what was not recorded.
    public var warnings: [String] {
        damage.entries.map(\.description) + (losses.calls > 0 ? [losses.description] : [])
    }

    /// Throws where a view needs each call, and only their sums were kept.
    ///
    /// - Parameter view: what shows calls, as "fathom tree shows single calls".
    public func requireCalls(for view: String) throws(QueryError) {
        if content == .calls { return }
        throw .notKept(
            session: path, content: content, view: view,
            advice: "report, graph and flame show these; record --mode trace keeps calls")
    }

    /// Throws where a view needs times, and calls were only counted.
    public func requireTimes(for view: String) throws(QueryError) {
        if content != .counts { return }
        throw .notKept(session: path, content: content, view: view, advice: "record --mode profile keeps times")
    }

    var hasCalls: Bool { processes.contains { $0.threads.contains { $0.countCalls() > 0 } } }
}
