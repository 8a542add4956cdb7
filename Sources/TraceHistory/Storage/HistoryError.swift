/// Why a history cannot be read or written.
public enum HistoryError: Error, Equatable, CustomStringConvertible {
    /// There is no such file.
    case missing(path: String)
    /// The file is something else.
    case notAHistory(path: String)
    /// A newer version of Fathom wrote it.
    case newer(path: String, found: Int, known: Int)
    /// Other processes have been writing to it all the time.
    case busy(path: String)
    /// What SQLite says.
    case failed(path: String, reason: String)
    /// What is in it is not what was written.
    case damaged(path: String, what: String)
    /// A session is to be added that still grows.
    case unfinished(session: String)
    /// There is no run of this number.
    case noRun(path: String, run: Int64)

    public var description: String {
        switch self {
        case .missing(let path): "\(path): there is no such history: fathom history add makes one"
        case .notAHistory(let path): "\(path): this is no history of runs"
        case .newer(let path, let found, let known):
            "\(path): written by a newer fathom: its format is \(found), and this one knows those up to \(known)"
        case .busy(let path): "\(path): other processes have been writing to it all the time"
        case .failed(let path, let reason): "\(path): \(reason)"
        case .damaged(let path, let what): "\(path): damaged: \(what)"
        case .unfinished(let session): "\(session): is still being recorded, so it is not a whole run yet"
        case .noRun(let path, let run): "\(path): has no run \(run)"
        }
    }
}
