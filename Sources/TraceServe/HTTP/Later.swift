internal import Glibc

/// A value that somebody makes while others wait for it.
final class Later<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value?
    private var isGivenUp = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// The value, as soon as it is there; nil when nobody is to wait any more.
    func wait() -> Value? {
        locked {
            while value == nil, !isGivenUp { pthread_cond_wait(condition, mutex) }
            return value
        }
    }

    /// The value, if it is there.
    var present: Value? { locked { value } }

    func set(_ value: Value) {
        locked {
            self.value = value
            pthread_cond_broadcast(condition)
        }
    }

    func giveUp() {
        locked {
            isGivenUp = true
            pthread_cond_broadcast(condition)
        }
    }
}
