/// What a thread waits for.
public enum WaitKind: UInt16, CaseIterable, Sendable {
    case mutex = 1
    case rwlock, condition, semaphore, barrier
    /// The end of a thread.
    case thread
    /// A time.
    case sleep
    case descriptor
    /// One of several descriptors, or a time.
    case poll
    /// A child process.
    case child
    case futex
    /// The lock of a file.
    case fileLock
    /// What another thread does once for all.
    case once
    /// No wait: a thread is made.
    case creation
    /// No wait: the thread itself begins.
    case beginning
    case signal
    /// Semaphores of System V.
    case semaphores
    /// A message, or room for one.
    case queue
    /// The end of input or output that was asked for.
    case inputOutput
}
