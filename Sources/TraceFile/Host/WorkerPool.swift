internal import Glibc

/// Runs numbered jobs on a few threads.
package final class WorkerPool {
    private let jobs: Int
    private let body: (Int, WorkerPool) -> Void
    private var next = 0
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    /// The number of processors that the system has.
    package static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    package init(jobs: Int, body: @escaping (Int, WorkerPool) -> Void) {
        self.jobs = jobs
        self.body = body
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` while no other worker runs one.
    package func exclusively<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    /// Runs all jobs, the lowest numbers first, and returns when they are done. If the system does not grant a worker's
    /// thread, the others do its work.
    package func run(workers: Int) {
        var threads: [pthread_t] = []
        for _ in 1..<max(workers, 1) {
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { pool in
                    Unmanaged<WorkerPool>.fromOpaque(pool!).takeUnretainedValue().work()
                    return nil
                }, Unmanaged.passUnretained(self).toOpaque())
            if status == 0 { threads.append(thread) }
        }
        work()
        for thread in threads { pthread_join(thread, nil) }
    }

    private func work() {
        while true {
            let job = exclusively {
                next += 1
                return next - 1
            }
            guard job < jobs else { return }
            body(job, self)
        }
    }
}
