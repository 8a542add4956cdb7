internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceWatch

/// Watches a program for hangs while `fathom watch` records it.
final class HangCompanion: RecordingCompanion, @unchecked Sendable {
    private let options: HangOptions
    private let files: HangFiles
    private let limit: Int
    private var watcher: HangWatcher?
    private var thread: BackgroundThread?
    /// Why the program is not watched.
    private(set) var problem: String?
    private(set) var refused: UInt64 = 0
    private(set) var unseenMarks: [String] = []

    /// - Parameter limit: how many reports of one day there may be.
    init(_ options: HangOptions, _ files: HangFiles, limit: Int) {
        self.options = options
        self.files = files
        self.limit = limit
    }

    func start(_ session: String, _ pid: Int32) {
        do throws(QueryError) {
            let live = try LiveSession(at: session, wantsMarks: options.wantsMarks)
            let watcher = HangWatcher(
                live, options, isAllowed: { [files, limit] in files.countOfLastDay < limit },
                news: { [files] in files.take($0) })
            watcher.awaited = pid
            self.watcher = watcher
            thread = BackgroundThread { watcher.run() }
        } catch {
            problem = error.description
        }
    }

    func stop(_ status: TargetStatus) {
        guard let watcher else { return }
        if case .signaled = status { watcher.noteEnd(isKilled: true) } else { watcher.noteEnd(isKilled: false) }
        watcher.stop()
        thread?.join()
        refused = watcher.refused
        unseenMarks = watcher.unseenMarks
    }
}
