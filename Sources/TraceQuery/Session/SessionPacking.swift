internal import TraceAnalysis
public import TraceFile
internal import TraceSymbols
internal import TraceText

/// Packs a session with all that is needed to show it where its programs are not.
public struct SessionPacking {
    private let session: Session
    /// Source files that are left out, because they were changed or are not there.
    public let missingSources: [String]
    private var files: [SessionFile: [UInt8]] = [:]

    /// - Parameter keepsSources: whether the source files are kept in which recorded functions are.
    /// - Throws: ``QueryError/stillRecorded(session:)``.
    /// - Complexity: O(bytes of names and sources); O(records) where the names are yet to be made.
    public init(_ session: Session, keepsSources: Bool) throws(QueryError) {
        if session.isRecording { throw .stillRecorded(session: session.path) }
        self.session = session
        let names = SessionNames.held(by: session, atAnySize: true)
        // The session may be where nothing can be written.
        if let names, session.names() == nil { files[.names] = names.bytes }
        guard keepsSources, let names else {
            missingSources = []
            return
        }
        let held = session.sources()
        var sources: [String: [UInt8]] = [:], missing: [String] = []
        for path in names.sourceFiles where SourceText.isSource(path) {
            if let text = held?.files[path] ?? SourceText.read(path, of: session) {
                sources[path] = text
            } else {
                missing.append(path)
            }
        }
        missingSources = missing
        files[.sources] = SourceArchive(sources).bytes
    }

    /// Writes the packed session.
    ///
    /// - Parameters:
    ///   - descriptor: of an empty file, which stays the caller's.
    ///   - progress: is told how far it is, 0...1.
    /// - Returns: 0, or the errno that says why it is not written.
    /// - Throws: ``TraceFileError`` when the session cannot be read any more.
    public func write(to descriptor: Int32, progress: (Double) -> Void) throws(TraceFileError) -> Int32 {
        try session.pack(to: descriptor, with: files, progress: progress)
    }
}

/// Source files as they were when a session was recorded.
enum SourceText {
    /// How names of source files end. A session from elsewhere may tell of any file, and what is packed is handed on.
    private static let endings: Set<String> = [
        "c", "cc", "cp", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "tcc", "def", "y",
        "l", "m",
        "mm", "s", "asm", "swift", "rs", "go", "d", "f", "f90", "zig", "nim", "cu", "cuh",
    ]

    static func isSource(_ path: String) -> Bool {
        path.lastIndex(of: ".").map { endings.contains(path[path.index(after: $0)...].lowercased()) } ?? false
    }

    /// The bytes of the file at `path`, if nobody has changed it since; nil otherwise.
    static func read(_ path: String, of session: Session) -> [UInt8]? {
        guard session.startRealtimeNanoseconds > 0,
            SessionFiles.isUnchanged(path, since: session.startRealtimeNanoseconds),
            let file = try? MappedFile(path: path)
        else { return nil }
        return Array(file.bytes)
    }
}
