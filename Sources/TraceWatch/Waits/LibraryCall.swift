/// Which function of a library a thread waits in, told by the functions on its stack.
enum LibraryCall: String {
    case mutex, condition, semaphore, join, barrier, once, atomic, stream, memory
    case readWriteLock = "rwlock"
    case dispatchQueue = "dispatch queue"
    case dispatchGroup = "dispatch group"
    case dispatchSemaphore = "dispatch semaphore"

    /// Parts of names of functions, and what waits in them; of several that fit, the first in the stack counts.
    private static let parts: [(String, LibraryCall)] = [
        ("pthread_mutex_", .mutex), ("pthread_cond_", .condition), ("cnd_wait", .condition),
        ("cnd_timedwait", .condition), ("mtx_lock", .mutex), ("sem_wait", .semaphore), ("sem_timedwait", .semaphore),
        ("sem_clockwait", .semaphore), ("new_sem_wait", .semaphore), ("pthread_join", .join),
        ("pthread_timedjoin", .join), ("pthread_clockjoin", .join), ("thrd_join", .join),
        ("pthread_barrier_wait", .barrier), ("pthread_once", .once), ("cxa_guard_acquire", .once),
        ("swift_once", .once), ("_dispatch_once_wait", .once), ("pthread_rwlock_", .readWriteLock),
        ("DISPATCH_WAIT_FOR_QUEUE", .dispatchQueue), ("dispatch_sync", .dispatchQueue),
        ("dispatch_barrier_sync", .dispatchQueue), ("dispatch_async_and_wait", .dispatchQueue),
        ("dispatch_group_wait", .dispatchGroup), ("_dispatch_wait_on_address", .dispatchGroup),
        ("dispatch_semaphore_wait", .dispatchSemaphore),
        ("__atomic_wait", .atomic), ("flockfile", .stream), ("puts", .stream), ("printf", .stream),
        ("fwrite", .stream), ("fflush", .stream), ("putchar", .stream), ("getc", .stream), ("fgets", .stream),
        ("malloc", .memory), ("calloc", .memory), ("realloc", .memory), ("free", .memory),
    ]

    /// - Parameter functions: innermost first.
    init?(of functions: [String]) {
        for name in functions {
            if let found = LibraryCall.parts.first(where: { name.contains($0.0) }) {
                self = found.1
                return
            }
        }
        return nil
    }
}
