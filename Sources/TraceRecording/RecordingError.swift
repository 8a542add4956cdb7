public import TraceFile

/// Why nothing was recorded, each with the remedy. The description is one line.
public enum RecordingError: Error, Equatable, CustomStringConvertible {
    case notFound(command: String)
    case notExecutable(path: String)
    case isDirectory(path: String)
    case cannotStart(path: String, errno: Int32)
    case files(SessionFileError)
    /// The buffers, which were just made, cannot be read.
    case unreadable(TraceFileError)
    case runtimeMissing(path: String)
    case inputNotRepeatable
    /// Times are read by a system call, which is too slow to add calls up.
    case noCounter
    /// A running process cannot be attached to.
    case cannotAttach(reason: String)

    public var description: String {
        switch self {
        case .notFound(let command):
            command.utf8.contains(UInt8(ascii: "/"))
                ? "\(command): no such file"
                : "\(command): not found in PATH; for a program in this directory say ./\(command)"
        case .notExecutable(let path):
            "\(path): not executable; chmod +x it, or name the program that runs it"
        case .isDirectory(let path):
            "\(path): is a directory"
        case .cannotStart(let path, let error):
            "\(path): cannot start: \(describe(error))"
        case .files(let error):
            error.description
        case .unreadable(let error):
            error.description
        case .runtimeMissing(let path):
            "\(path): the runtime library is missing; it belongs beside the fathom executable"
        case .noCounter:
            "--mode profile reads times from the processor's counter, which cannot be relied on here; "
                + "--mode trace and --mode counts do without"
        case .cannotAttach(let reason): reason
        case .inputNotRepeatable:
            "--baseline runs the program again, but its standard input can be read only once; "
                + "give it a file: < FILE, or < /dev/null"
        }
    }

    /// The exit status when a program cannot be recorded for a reason of ours, as env(1) and timeout(1) have it.
    public static let ownStatus: Int32 = 125

    /// The exit status that a shell or env(1) would give for the same failure.
    public var exitStatus: Int32 {
        switch self {
        case .notFound: 127
        case .notExecutable, .isDirectory, .cannotStart: 126
        case .files, .unreadable, .runtimeMissing, .inputNotRepeatable, .noCounter, .cannotAttach:
            RecordingError.ownStatus
        }
    }
}
