/// Mutexes with priority inheritance that the kernel refuses to wait for, because that would close a circle of waits.
///
/// pthread_mutex_lock then waits for ever, or until its time limit, for a word of its own on the thread's stack (nptl/:
/// `__pthread_mutex_lock_full`), and need not keep which mutex it was. But who refuses it says that the mutex's owner waits
/// for this thread, if through others.
enum RefusedMutex {
    static let text = "a mutex with priority inheritance"

    /// Whether a futex that is waited for while it is 0, as no mutex is, is a word of the C library's own, on the waiting thread's stack. The library's frames are small.
    static func isOwnWord(_ address: UInt64, _ stackPointer: UInt64) -> Bool {
        address >= stackPointer && address - stackPointer < 512
    }

    /// The mutexes with priority inheritance whose addresses are near the end of a stack, by their addresses, with their
    /// owners. What is there says whether an address is that of such a mutex.
    static func found(
        near stackPointer: UInt64, load: (UInt64) -> UInt32?, isThread: (UInt32) -> Bool
    ) -> [UInt64: UInt32] {
        var owners: [UInt64: UInt32] = [:]
        for place in stride(from: stackPointer & ~7, to: stackPointer &+ 2048, by: 8) {
            guard let low = load(place), let high = load(place &+ 4), high > 0 || low > 4096 else { continue }
            let address = UInt64(high) << 32 | UInt64(low)
            guard address % 8 == 0, high < 1 << 24, let lock = load(address), let owner = load(address &+ 8),
                let users = load(address &+ 12), let kind = load(address &+ 16)
            else { continue }
            // PTHREAD_MUTEX_PRIO_INHERIT_NP; nobody else's bits are above those of elision (nptl/pthreadP.h).
            let isMutex = kind & 0x20 != 0 && kind < 0x400 && (1...65_536).contains(users)
            if isMutex, owner == lock & 0x3fff_ffff, isThread(owner) { owners[address] = owner }
        }
        return owners
    }

    /// Completes what is known of threads that a mutex is refused to, by what the others wait for.
    static func complete(_ findings: inout [Int32: WaitFinder.Finding], holder: (UInt32, Int32) -> String) {
        let owners = findings.reduce(into: [:]) { $0[UInt32(bitPattern: $1.key)] = $1.value.wait?.owner }
        for (tid, finding) in findings {
            guard let wait = finding.wait, let refused = wait.refused else { continue }
            // How many waits lead from each of the others to this thread.
            let own = UInt32(bitPattern: tid)
            let distances = owners.keys.reduce(into: [UInt32: Int]()) { $0[$1] = distance(from: $1, to: own, owners) }
            let fitting = refused.filter { distances.isEmpty ? $0.value == own : distances[$0.value] != nil }
            if fitting.count == 1, let mutex = fitting.first {
                findings[tid]?.wait = ObservedWait(
                    wait.kind, "a mutex at 0x\(String(mutex.key, radix: 16)), which \(holder(mutex.value, tid)) holds",
                    owner: mutex.value)
            } else if distances.count == 1, let other = distances.keys.first {
                findings[tid]?.wait = ObservedWait(
                    wait.kind, "\(text), which \(holder(other, tid)) holds", owner: other)
            } else {
                findings[tid]?.wait?.closes = distances.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
            }
        }
    }

    private static func distance(from start: UInt32, to end: UInt32, _ owners: [UInt32: UInt32]) -> Int? {
        var next = owners[start], count = 1, seen: Set<UInt32> = [start]
        while let thread = next, thread != end, seen.insert(thread).inserted {
            next = owners[thread]
            count += 1
        }
        return start != end && next == end ? count : nil
    }
}
