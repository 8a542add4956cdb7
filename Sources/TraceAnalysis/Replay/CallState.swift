/// How a call ended.
public enum CallState: UInt8, BitwiseCopyable, Sendable {
    /// Its exit was recorded.
    case complete
    /// It was still open when the recording ended.
    case open
    /// It ended by an exception or a longjmp, or unseen in a stretch that is lost.
    case unwound
}
