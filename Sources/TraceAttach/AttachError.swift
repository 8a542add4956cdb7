/// Why a process cannot be attached to, and what would help.
public enum AttachError: Error, CustomStringConvertible {
    case noProcess(Int32)
    case ended(Int32)
    case refused(Int32, reason: String)
    case notReady(Int32, reason: String)
    case failed(Int32, reason: String)

    public var description: String {
        switch self {
        case .noProcess(let pid): "there is no process \(pid)"
        case .ended(let pid): "process \(pid) has ended"
        case .refused(let pid, let reason): "process \(pid) cannot be attached to: \(reason)"
        case .notReady(let pid, let reason): "process \(pid) cannot be attached to now: \(reason)"
        case .failed(let pid, let reason): "process \(pid): \(reason)"
        }
    }
}
