public import TraceFile

/// One stretch of time in which a thread did not run. Times in ns on the clock that all threads share, since the session's
/// start.
public struct Wait: Sendable {
    public enum Kind: Hashable, Sendable {
        /// A call of the C library that was made to wait.
        case call(WaitKind)
        /// The thread gave up its CPU where no such call is known: for a page, in a system call, in the C library itself.
        case other
        /// It wanted a CPU and had none.
        case cpu

        /// What it is called.
        public var name: String {
            switch self {
            case .cpu: "cpu"
            case .other: "other"
            case .call(let kind):
                switch kind {
                case .mutex, .rwlock: "lock"
                case .condition: "condition"
                case .semaphore: "semaphore"
                case .barrier: "barrier"
                case .thread, .creation, .beginning: "thread"
                case .sleep: "sleep"
                case .descriptor: "descriptor"
                case .poll: "poll"
                case .child: "child"
                case .futex: "futex"
                case .fileLock: "file lock"
                case .once: "once"
                case .signal: "signal"
                case .semaphores: "semaphore"
                case .queue: "queue"
                case .inputOutput: "i/o"
                }
            }
        }
    }

    public var kind: Kind
    /// What was waited for; 0: nothing that has a name.
    public var object: UInt64
    /// Which descriptor, or -1.
    public var descriptor: Int16
    /// What is behind the descriptor: an id among the process's names; 0: not known.
    public var name: UInt32 = 0
    /// Number among ``WaitPaths``: where it waited.
    public var path: Int32
    /// Index among the threads that were read.
    public var thread: Int
    public var begin: UInt64
    public var end: UInt64
    /// The part in which it waited. Of a call, the rest ran.
    public var time: UInt64
    /// Index of what ended it among ``Waits/wakes``; nil when that is not known.
    public var wake: Int?
}
