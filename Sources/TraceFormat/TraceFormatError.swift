internal import Glibc

/// Why a session cannot be read at all. What is only damaged is collected as ``Damage`` instead.
public enum TraceFormatError: Error, Equatable {
    /// `path` is neither a session directory nor a program that has one beside it.
    case notASession(path: String)
    /// The system refused to open, inspect or map `path`.
    case unreadable(path: String, errno: Int32)
    /// The session was written by another version of the format.
    case unsupportedVersion(path: String, found: UInt32, supported: UInt32)
    /// Neither the log nor the buffers have an intact file header.
    case noHeader(path: String)
}

extension TraceFormatError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notASession(let path): "\(path): not a Fathom session"
        case .unreadable(let path, let number): "\(path): \(String(cString: strerror(number)))"
        case .unsupportedVersion(let path, let found, let supported):
            "\(path): format version \(found); this program reads version \(supported)"
        case .noHeader(let path): "\(path): nothing readable: no intact file header in its trace or buffers"
        }
    }
}
