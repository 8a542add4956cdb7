internal import Glibc

/// Why a session's files cannot be made, each with the remedy. The description is one line.
public enum SessionFileError: Error, Equatable, CustomStringConvertible {
    case cannotCreate(path: String, errno: Int32)
    case notOurs(path: String)
    /// The directory is another user's, or the file system says that of all.
    case belongsToOthers(path: String)
    /// The session also holds `file`, which is not one of a session.
    case holdsOthers(path: String, file: String)
    case isBeingRecorded(path: String)
    case noSharedMemory(path: String, errno: Int32)

    public var description: String {
        switch self {
        case .cannotCreate(let path, EFBIG):
            "\(path): cannot create the session: the limit on the size of files (ulimit -f) is too low; raise it"
        case .cannotCreate(let path, EMFILE):
            "\(path): cannot create the session: the limit on open files (ulimit -n) is too low; raise it"
        case .cannotCreate(let path, let error):
            "\(path): cannot create the session: \(describe(error)); choose another place with -o"
        case .notOurs(let path):
            "\(path): exists and is not a Fathom session, so it is left alone; choose another place with -o"
        case .belongsToOthers(let path):
            "\(path): is a directory of another user, who could change the session; choose another place with -o"
        case .holdsOthers(let path, let file):
            "\(path): holds \(file), which is no file of a Fathom session, so nothing is removed; "
                + "move it away, or choose another place with -o"
        case .isBeingRecorded(let path):
            "\(path): is being recorded right now; choose another place with -o"
        case .noSharedMemory(let path, let error):
            error == ENOMEM
                ? "\(path): no room to map the buffers (\(describe(error))); raise the limit, or choose a smaller --buffer-size"
                : "\(path): this file system cannot hold shared memory (\(describe(error))); choose another place with -o"
        }
    }
}

/// The system's text for an errno value.
package func describe(_ error: Int32) -> String {
    error == EFBIG ? "the limit on the size of files (ulimit -f) was reached" : String(cString: strerror(error))
}
