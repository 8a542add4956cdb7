public import TraceFile
internal import TraceSymbols
internal import TraceText

/// The source files that a session's functions are in: those that it holds and, if nobody has moved them, those on disk.
public struct SessionSources: Sendable {
    /// The text of a file.
    public struct Text: Sendable {
        public let bytes: [UInt8]
        /// Whether the session holds it, and so as it was when it was recorded.
        public let isHeld: Bool
        /// Whether the file was changed since the recording began, so that its lines may have moved.
        public let isChanged: Bool
    }

    /// Why there is no text.
    public enum Problem: Error, Equatable, CustomStringConvertible {
        case notOfSession(String)
        /// The session's names are made when its recording ends.
        case stillRecorded
        case unreadable(String)
        case tooLarge(String)

        public var description: String {
            switch self {
            case .notOfSession(let path): "no function that was recorded is known to be in '\(path)'"
            case .stillRecorded: "the source is shown when the recording has ended"
            case .unreadable(let reason): "\(reason); fathom pack --sources keeps such files with a recording"
            case .tooLarge(let path): "\(path) has more than \(SessionSources.mostBytes >> 20) MB"
            }
        }
    }

    private static let mostBytes = 32 << 20

    /// The files by what they are called where they are shown.
    private let paths: [String: String]
    private let held: [String: [UInt8]]
    private let began: UInt64
    private let isRecording: Bool

    /// - Complexity: O(names); O(records), where the names are yet to be made.
    public init(_ session: Session) {
        isRecording = session.isRecording
        began = session.startRealtimeNanoseconds
        held = session.sources()?.files ?? [:]
        let names = SessionNames.held(by: session, atAnySize: true)
        let known = (names?.sourceFiles ?? []).filter(SourceText.isSource) + held.keys
        paths = Dictionary(known.map { ($0.visible, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The text of the file that is called `name`: one that the session's names tell of, and no other.
    public func text(of name: String) throws(Problem) -> Text {
        guard let path = paths[name] else { throw isRecording ? .stillRecorded : .notOfSession(name) }
        if let bytes = held[path] { return Text(bytes: bytes, isHeld: true, isChanged: false) }
        // What it would be relative to is not known.
        guard path.hasPrefix("/") else { throw .unreadable("\(name): it is not known where this file is") }
        let file: MappedFile
        do throws(TraceFileError) {
            file = try MappedFile(path: path)
        } catch {
            throw .unreadable("\(error)")
        }
        if file.size > SessionSources.mostBytes { throw .tooLarge(name) }
        return Text(
            bytes: Array(file.bytes), isHeld: false,
            isChanged: began > 0 && !SessionFiles.isUnchanged(path, since: began))
    }
}
