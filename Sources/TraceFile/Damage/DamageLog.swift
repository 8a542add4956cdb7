internal import Glibc

/// The damage found so far, each place once. Readers of one session share it, on any number of threads.
public final class DamageLog {
    private var found: [Damage] = []
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    public init() {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    public var entries: [Damage] {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return found
    }

    /// Adds `damage` unless the same is known already.
    ///
    /// - Complexity: O(entries); damage is rare.
    public func report(_ damage: Damage) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if found.count < 1000, !found.contains(damage) { found.append(damage) }
    }
}
