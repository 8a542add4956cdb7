internal import Glibc

/// Why a session cannot be read at all. Mere damage is collected as ``Damage`` instead.
public enum TraceFileError: Error, Equatable {
    /// `path` is neither a session directory nor a program that has one beside it.
    case notASession(path: String)
    /// `path` is a program that has no session beside it.
    case notRecorded(path: String)
    /// `path` is a directory that only others may look into: `owner`, by name, and whom that user lets.
    case forbidden(path: String, owner: String)
    /// The system refused to open, inspect or map `path`.
    case unreadable(path: String, errno: Int32)
    /// `path` is a pipe, a directory or a device, which cannot be mapped.
    case notAFile(path: String)
    /// The session was written in a format that is not known here, most likely a newer one.
    case unsupportedVersion(path: String, found: UInt32, supported: UInt32)
    /// The session is one packed file, and what follows recordings as they grow does not read it.
    case doesNotGrow(path: String)
    /// Neither the log nor the buffers have an intact file header.
    case noHeader(path: String)
}

extension TraceFileError {
    /// What is wrong with a file, without its name.
    var reason: String {
        switch self {
        case .unreadable(let path, let number):
            String(cString: strerror(number))
                + (number == EACCES
                    ? SessionFiles.otherOwner(of: path).map { "; it belongs to user \($0)" } ?? "" : "")
        case .notAFile: "not a plain file"
        case .notASession, .notRecorded, .forbidden, .unsupportedVersion, .noHeader, .doesNotGrow: description
        }
    }
}

extension TraceFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notASession(let path): "\(path): not a Fathom session"
        case .notRecorded(let path): "\(path): a program, and no recording of it: there is no \(path).fathom"
        case .forbidden(let path, let owner):
            "\(path): you may not look into it (permission denied); it belongs to user \(owner)"
        case .unreadable(let path, _): "\(path): \(reason)"
        case .notAFile(let path): "\(path): \(reason)"
        case .unsupportedVersion(let path, let found, let supported):
            found > supported
                ? "\(path): recorded by a newer Fathom, in format \(found); this one reads formats up to \(supported)"
                : "\(path): format \(found), which there is not; this Fathom reads formats up to \(supported)"
        case .doesNotGrow(let path): "\(path): packed, and so it does not grow: fathom unpack makes a directory of it"
        case .noHeader(let path): "\(path): nothing readable: no intact file header in its trace or buffers"
        }
    }
}
