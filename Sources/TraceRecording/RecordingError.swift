internal import Glibc

/// Why nothing was recorded, each with the remedy. The description is one line.
public enum RecordingError: Error, Equatable, CustomStringConvertible {
    case notFound(command: String)
    case notExecutable(path: String)
    case isDirectory(path: String)
    case cannotStart(path: String, errno: Int32)
    case cannotCreate(path: String, errno: Int32)
    case notOurs(path: String)
    /// A session that holds `file`, too, which is not its own.
    case holdsOthers(path: String, file: String)
    case isBeingRecorded(path: String)
    case noSharedMemory(path: String, errno: Int32)
    case runtimeMissing(path: String)
    case inputNotRepeatable

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
        case .cannotCreate(let path, EFBIG):
            "\(path): cannot create the session: the limit on the size of files (ulimit -f) is too low; raise it"
        case .cannotCreate(let path, let error):
            "\(path): cannot create the session: \(describe(error)); choose another place with -o"
        case .notOurs(let path):
            "\(path): exists and is not a Fathom session, so it is left alone; choose another place with -o"
        case .holdsOthers(let path, let file):
            "\(path): holds \(file), which is no file of a Fathom session, so nothing is removed; "
                + "move it away, or choose another place with -o"
        case .isBeingRecorded(let path):
            "\(path): is being recorded right now; choose another place with -o"
        case .noSharedMemory(let path, let error):
            error == ENOMEM
                ? "\(path): no room to map the buffers (\(describe(error))); raise the limit, or choose a smaller --buffer-size"
                : "\(path): this file system cannot hold shared memory (\(describe(error))); choose another place with -o"
        case .runtimeMissing(let path):
            "\(path): the runtime library is missing; it belongs beside the fathom executable"
        case .inputNotRepeatable:
            "--baseline runs the program again, but its standard input can be read only once; "
                + "give it a file: < FILE, or < /dev/null"
        }
    }

    /// The exit status that a shell or env(1) would give for the same failure.
    public var exitStatus: Int32 {
        switch self {
        case .notFound: 127
        case .notExecutable, .isDirectory, .cannotStart: 126
        case .cannotCreate, .notOurs, .holdsOthers, .isBeingRecorded, .noSharedMemory, .runtimeMissing,
            .inputNotRepeatable:
            1
        }
    }
}

/// The system's text for an errno value.
func describe(_ error: Int32) -> String {
    error == EFBIG ? "the limit on the size of files (ulimit -f) was reached" : String(cString: strerror(error))
}
