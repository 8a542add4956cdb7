/// How a call ended.
public enum CallState: UInt8, BitwiseCopyable, Sendable {
    /// By its exit.
    case complete
    /// Not before the recording did.
    case open
    /// By an exception, a longjmp, or unseen in a stretch that is lost.
    case unwound
}
