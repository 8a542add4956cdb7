public import Glibc
internal import TraceText

/// How to start a program. Paths and words may hold bytes that are no text.
public struct ChildProgram {
    /// What one of its standard streams is.
    public enum Stream {
        /// That of this program.
        case inherited
        /// /dev/null.
        case nothing
        /// A descriptor of this program.
        case descriptor(Int32)
    }

    /// The streams by their descriptors: input, output, errors.
    public var streams: [Stream]
    /// The signals that it does not ignore, even where this program does.
    public var defaultSignals: sigset_t
    /// The signals that it has blocked; nil: those that this thread has.
    public var blockedSignals: sigset_t?
    /// Whether it leads a process group of its own, which keys of the terminal do not reach.
    public var hasOwnGroup = false

    /// - Parameter signals: those that it does not ignore.
    public init(
        input: Stream = .inherited, output: Stream = .inherited, errors: Stream = .inherited,
        restoring signals: [Int32] = []
    ) {
        streams = [input, output, errors]
        defaultSignals = sigset_t()
        sigemptyset(&defaultSignals)
        for signal in signals { sigaddset(&defaultSignals, signal) }
    }

    /// Starts it, and does not wait.
    ///
    /// - Parameters:
    ///   - path: with `isSearched`, it is looked for in PATH unless there is a slash in it.
    ///   - words: its arguments, the first of which is its name.
    /// - Throws: an error whose subject is the path.
    public func start(_ path: String, _ words: [String], isSearched: Bool = false) throws(SystemError) -> pid_t {
        let arguments = words.map { $0.withRawCString { strdup($0) } } + [nil]
        defer { for argument in arguments { free(argument) } }
        return try start(path, arguments, environ, isSearched: isSearched)
    }

    /// The same, with arguments and an environment that end with nil.
    public func start(
        _ path: String, _ arguments: [UnsafeMutablePointer<CChar>?],
        _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>, isSearched: Bool = false
    ) throws(SystemError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = defaultSignals, flags = POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setsigdefault(&attributes, &signals)
        if var blockedSignals {
            posix_spawnattr_setsigmask(&attributes, &blockedSignals)
            flags |= POSIX_SPAWN_SETSIGMASK
        }
        if hasOwnGroup {
            posix_spawnattr_setpgroup(&attributes, 0)
            flags |= POSIX_SPAWN_SETPGROUP
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in zip(Int32(0)..., streams) {
            switch stream {
            case .inherited: break
            case .nothing:
                let flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", flags, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        var process = pid_t()
        let start = isSearched ? posix_spawnp : posix_spawn
        let failure = path.withRawCString { start(&process, $0, &actions, &attributes, arguments, environment) }
        if failure != 0 { throw SystemError(path, failure) }
        return process
    }

    /// Waits for a child's end.
    ///
    /// - Returns: its status, as waitpid(2) has it.
    /// - Throws: an error whose subject is `waitpid`.
    public static func wait(for process: pid_t) throws(SystemError) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            if errno != EINTR { throw SystemError("waitpid", errno) }
        }
        return status
    }

    /// Starts it, and waits for its end.
    ///
    /// - Returns: its status, as waitpid(2) has it.
    public func run(_ path: String, _ words: [String]) throws(SystemError) -> Int32 {
        try ChildProgram.wait(for: start(path, words))
    }
}
