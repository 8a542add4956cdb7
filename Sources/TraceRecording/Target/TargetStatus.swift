/// How the program ended.
public enum TargetStatus: Sendable, Equatable {
    case exited(Int32)
    case signaled(Int32)

    /// From a status as wait(2) gives it.
    init(_ status: Int32) {
        self = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signaled(status & 0x7f)
    }
}
