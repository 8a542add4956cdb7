internal import TraceText

/// One program image of a session, which began by an exec or a fork.
public final class TracedProcess {
    public enum Origin: Sendable { case image, fork }
    public enum End: Sendable, Equatable {
        /// exit or _exit was called; the status is not known.
        case exit
        /// It confined itself so that nothing more could be recorded.
        case confined
        /// It went on when what is recorded of it was saved.
        case saved
        /// It went on when whoever had attached to it detached.
        case detached
        /// Another image took its place.
        case exec
        /// It was waited for; its status is as wait(2) gives it.
        case waited(status: Int32)
        case unknown
    }

    /// Index in the session, in order of first appearance.
    public let index: UInt32
    public internal(set) var pid: UInt32
    public internal(set) var parentPID: UInt32 = 0
    /// The process this one was forked from.
    public internal(set) var forkParent: TracedProcess?
    public internal(set) var origin = Origin.image
    public internal(set) var startTicks: UInt64 = 0
    public internal(set) var path = ""
    /// What it noted of its start; nil where that was not asked for.
    public internal(set) var start: RecordedStart?
    /// The arguments that its image was started with. A fork's child has its parent's.
    public internal(set) var arguments: [String] = []
    /// What it called itself last, in place of its arguments; nil when it never did.
    public internal(set) var title: String?
    /// Modules in order of discovery, a fork parent's as of the fork first.
    public internal(set) var modules: [Module] = []
    /// Names that the program gave, by id, including those of a fork's parent.
    public internal(set) var names: [UInt32: GivenName] = [:]
    /// What modules call functions whose calls are recorded at their slots, by the functions' addresses.
    public internal(set) var libraryCalls: [UInt64: [LibraryCall]] = [:]
    /// What the values of recorded arguments are, by the ids that records have.
    public internal(set) var argumentLayouts = SystemCalls.layouts
    /// How many of `modules` came from the fork's parent unchanged.
    public internal(set) var inheritedModules = 0
    /// Whether nothing changed in the modules and names that were inherited, and none was added.
    public internal(set) var sharesParentModules = false
    public internal(set) var end = End.unknown
    /// When it ended, or, when it is still recorded, when the session was opened; 0 when that is not known. Calls that were
    /// open then had lasted until then.
    public internal(set) var endTicks: UInt64 = 0
    /// Whether it confined itself so that nothing more could be recorded, however it ended later.
    public internal(set) var isConfined = false
    /// Whether its memory was to be recorded, and could not be, because it has functions of its own that allocate it.
    public internal(set) var hidesMemory = false
    /// Whether calls are missing, so that calls open in the last record may have ended at any time since.
    var isCutShort = false
    /// Whether nothing is known but the process id.
    public internal(set) var metadataIsLost = true
    public internal(set) var threads: [TracedThread] = []

    init(index: UInt32, pid: UInt32) {
        self.index = index
        self.pid = pid
    }

    /// A process that took no part in the recording.
    package convenience init(unseen pid: UInt32, path: String) {
        self.init(index: 0, pid: pid)
        self.path = path
    }

    /// The program's name as it may be shown: last component of its path, or `?`.
    public var programName: String {
        guard let last = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path.isEmpty ? "?" : path.visible }
        return String(path[path.index(after: last)...]).visible
    }

    /// What the process was called, as it may be shown: the title that it gave itself, or its arguments as a shell takes them,
    /// without the way to the program.
    public var calledName: String? {
        if let title { return title.visible }
        guard let first = arguments.first else { return nil }
        let program =
            first.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(first[first.index(after: $0)...]) } ?? first
        return CommandText.line([program] + arguments.dropFirst())
    }
}
