public import TraceFile

extension Session {
    /// Opens the session at `path`.
    public static func opened(_ path: String) throws(QueryError) -> Session {
        do throws(TraceFileError) {
            return try Session(path: path)
        } catch {
            throw .unreadable(error)
        }
    }

    /// What the recording lacks: what was found damaged so far, and what was not recorded.
    public var warnings: [String] {
        damage.entries.map(\.description) + (losses.calls > 0 ? [losses.description] : [])
    }

    var hasCalls: Bool { processes.contains { $0.threads.contains { $0.countCalls() > 0 } } }
}
