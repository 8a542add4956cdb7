/// What a thread that waits for a futex waits for.
///
/// The kernel knows a word in memory and nothing of what it is a part of. That is told by the kind of wait, by the
/// functions on the stack, and by what glibc keeps beside the word (nptl/: `struct __pthread_mutex_s`,
/// `struct __pthread_rwlock_arch_t`, `struct pthread`).
struct FutexWait {
    let tid: Int32
    let stackPointer: UInt64
    /// The threads of the process.
    let threads: Set<UInt32>
    /// The functions on the thread's stack that are in libraries, innermost first.
    let functions: [String]
    let load: (UInt64) -> UInt32?
    /// How a thread is called that has something.
    let holder: (UInt32) -> String

    private static let privateFlag: UInt64 = 128
    private static let lockPI: Set<UInt64> = [6, 13]
    /// The bits of a word that hold the owner's id where the kernel knows the owner, and in robust mutexes.
    private static let idMask: UInt32 = 0x3fff_ffff

    private var isPlausible: (UInt32) -> Bool { { $0 != 0 && threads.contains($0) } }

    func wait(_ arguments: [UInt64]) -> ObservedWait {
        let address = arguments[0], operation = arguments[1] & 0x7f, value = UInt32(truncatingIfNeeded: arguments[2])
        if FutexWait.lockPI.contains(operation) { return held("mutex", "a mutex", address, load(address)) }
        let isShared = arguments[1] & FutexWait.privateFlag == 0
        switch LibraryCall(of: functions) {
        case .mutex: return mutex(address, value)
        case .readWriteLock: return readWriteLock(address)
        case .join: return join(value)
        case .dispatchQueue: return dispatchQueue(address)
        case let other?: return ObservedWait(other.rawValue, FutexWait.texts[other] ?? "a \(other.rawValue)")
        case nil: break
        }
        // Nobody knows the stack. A joining thread waits until the kernel clears the other's id.
        if isShared, isPlausible(value), value != UInt32(bitPattern: tid), load(address) == value { return join(value) }
        if looksLikeMutex(address, value) { return mutex(address, value) }
        if let queue = syncOwner(address) { return held("dispatch queue", "a dispatch queue", address, queue) }
        return ObservedWait(
            "futex", "a futex at 0x\(String(address, radix: 16)), which is part of a lock or another primitive")
    }

    private static let texts: [LibraryCall: String] = [
        .condition: "a condition variable", .semaphore: "a semaphore", .barrier: "other threads, at a barrier",
        .once: "the end of an initialisation that another thread does", .atomic: "a change of an atomic variable",
        .stream: "the lock of a stream of stdio", .memory: "the lock of malloc",
        .dispatchGroup: "a dispatch group", .dispatchSemaphore: "a dispatch semaphore",
    ]

    private func held(_ kind: String, _ what: String, _ address: UInt64, _ word: UInt32?) -> ObservedWait {
        let owner = word.map { $0 & FutexWait.idMask }
        let text = "\(what) at 0x\(String(address, radix: 16))"
        guard let owner, isPlausible(owner) else { return ObservedWait(kind, text) }
        return ObservedWait(kind, "\(text), which \(holder(owner)) holds", owner: owner)
    }

    /// The word is the first of the mutex; the owner's id is the third.
    private func mutex(_ address: UInt64, _ value: UInt32) -> ObservedWait {
        guard value == 0, RefusedMutex.isOwnWord(address, stackPointer) else {
            return held("mutex", "a mutex", address, load(address &+ 8))
        }
        var wait = ObservedWait("mutex", "\(RefusedMutex.text) that it cannot have")
        wait.refused = RefusedMutex.found(near: stackPointer, load: load, isThread: isPlausible)
        return wait
    }

    /// Whether the words around are those of a mutex that is locked, with others waiting.
    private func looksLikeMutex(_ address: UInt64, _ value: UInt32) -> Bool {
        guard let owner = load(address &+ 8), let users = load(address &+ 12), let kind = load(address &+ 16) else {
            return false
        }
        let isContended = value == 2 || value & FutexWait.idMask == owner
        return isContended && isPlausible(owner) && (1...65_536).contains(users) && kind < 0x400
    }

    /// The seventh word has the writer's id. A reader waits at the third word, a writer there or at the fourth.
    private func readWriteLock(_ address: UInt64) -> ObservedWait {
        for offset in [16, 12] as [UInt64] {
            if let writer = load(address &+ offset), isPlausible(writer) {
                return held("rwlock", "a read-write lock", address &+ offset &- 24, writer)
            }
        }
        return ObservedWait("rwlock", "a read-write lock at 0x\(String(address, radix: 16)), which readers hold")
    }

    private func join(_ value: UInt32) -> ObservedWait {
        isPlausible(value)
            ? ObservedWait("join", "the end of \(holder(value))", owner: value)
            : ObservedWait("join", "the end of a thread")
    }

    private func dispatchQueue(_ address: UInt64) -> ObservedWait {
        guard let owner = syncOwner(address) else { return ObservedWait("dispatch queue", "a dispatch queue") }
        return held("dispatch queue", "a dispatch queue", address, owner)
    }

    /// Who has the queue that a thread which called dispatch_sync waits for.
    ///
    /// The word is in the thread's `struct dispatch_sync_context_s` (libdispatch, src/queue_internal.h), with the thread's own
    /// id behind it, which tells that it is one. The queue's state has its owner's id in the low half.
    private func syncOwner(_ address: UInt64) -> UInt32? {
        guard load(address &+ 4) == UInt32(bitPattern: tid) || load(address &+ 8) == UInt32(bitPattern: tid) else {
            return nil
        }
        for offset in FutexWait.queueOffsets {
            guard let queue = load64(address &- offset), queue > 4096, queue % 8 == 0,
                let state = load(queue &+ FutexWait.stateOffset)
            else { continue }
            let owner = state & FutexWait.idMask
            if isPlausible(owner) { return owner }
        }
        return nil
    }

    private func load64(_ address: UInt64) -> UInt64? {
        guard let low = load(address), let high = load(address &+ 4) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// Where the queue stands before the word, and where its state is in the queue.
    private static let queueOffsets: [UInt64] = [40], stateOffset: UInt64 = 56
}
