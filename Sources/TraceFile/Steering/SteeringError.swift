internal import Glibc

/// Why a recording cannot be steered, or not in the way that was asked for.
public enum SteeringError: Error, Equatable {
    /// There is no session at `path`.
    case noSession(reason: String)
    /// The recording is over: no recorder writes into it any more.
    case isOver(path: String)
    /// The recorder was killed, and so were all programs that it recorded.
    case isDead(path: String)
    /// The session, or the process, belongs to another user.
    case belongsTo(what: String, user: String)
    /// There is no such process.
    case noProcess(Int32)
    /// The process is there and is not recorded.
    case notRecorded(Int32)
    /// Another version of Fathom records it.
    case otherVersion(path: String)
    case unreadable(path: String, errno: Int32)
    /// The session's directory takes no more files.
    case files(SessionFileError)
    /// What is asked is for recordings of another mode.
    case notInMode(RecordOptions.Mode, reason: String)
    /// Only a recorder can do it, and there is none any more.
    case noRecorder(path: String)
}

extension SteeringError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSession(let reason): reason
        case .isOver(let path): "\(path): the recording is over, so nothing of it can be steered"
        case .isDead(let path):
            "\(path): its recorder and the programs that it recorded are gone, so nothing can be steered"
        case .belongsTo(let what, let user): "\(what) belongs to \(user), who alone can steer it"
        case .noProcess(let pid): "there is no process \(pid)"
        case .notRecorded(let pid): "process \(pid) is not being recorded"
        case .otherVersion(let path): "\(path): recorded by another version of Fathom, whose fathom ctl can steer it"
        case .unreadable(let path, let number): "\(path): \(String(cString: strerror(number)))"
        case .files(.cannotCreate(let path, let number)), .files(.noSharedMemory(let path, let number)):
            "\(path): \(describe(number))"
        case .files(let error): error.description
        case .notInMode(let mode, let reason): "not in --mode \(mode.rawValue): \(reason)"
        case .noRecorder(let path): "\(path): its recorder is gone, and only that can save what the ring holds"
        }
    }
}
