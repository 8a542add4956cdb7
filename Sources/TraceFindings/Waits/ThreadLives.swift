internal import TraceFile

/// When threads and processes began and ended, and what made them begin.
struct ThreadLives {
    /// When one thread began, and its last moment.
    struct Life {
        /// Its own number among its process's, and when it began.
        var beginning: (object: UInt64, moment: UInt64)?
        var last: UInt64
    }

    private let threads: [TracedThread]
    private let lives: [Life]
    private let session: Session
    /// By index of the process.
    private var members: [UInt32: [Int]] = [:]

    init(_ threads: [TracedThread], _ lives: [Life], session: Session) {
        self.threads = threads
        self.lives = lives
        self.session = session
        for (index, thread) in threads.enumerated() { members[thread.process.index, default: []].append(index) }
    }

    private func start(_ process: TracedProcess) -> UInt64 { session.clock.nanoseconds(at: process.startTicks) }

    /// The ends of processes, as what ends a wait for a child.
    var ends: [Wake] {
        session.processes.compactMap { process in
            guard process.end != .exec, let threads = members[process.index],
                let thread = threads.first(where: { self.threads[$0].tid == process.pid }) ?? threads.last
            else { return nil }
            let last = threads.map { lives[$0].last }.max() ?? 0
            // Only the process itself knows its end before the process does that waits for it.
            let end = process.end == .exit ? session.clock.nanoseconds(at: process.endTicks) : 0
            return Wake(
                kind: .child, object: UInt64(process.pid), path: 0, thread: thread, moment: max(last, end))
        }
    }

    /// What made each thread begin; nil where that is not known.
    ///
    /// - Parameter creations: the wakes that tell of a thread that is made, in the order of time.
    /// - Complexity: O(n log n) in the number of threads.
    func origins(_ creations: [Wake]) -> [Origin?] {
        struct Number: Hashable {
            var process: UInt32
            var object: UInt64
        }
        var made: [Number: [Wake]] = [:]
        for wake in creations {
            made[Number(process: threads[wake.thread].process.index, object: wake.object), default: []].append(wake)
        }
        return threads.indices.map { index in
            let process = threads[index].process
            guard threads[index].tid != process.pid else { return origin(ofMain: index) }
            guard let beginning = lives[index].beginning else { return nil }
            // Numbers are used again.
            let maker = made[Number(process: process.index, object: beginning.object)]?.last {
                $0.moment <= beginning.moment && $0.thread != index
            }
            return maker.map { Origin(thread: $0.thread, moment: $0.moment, path: $0.path) }
        }
    }

    /// What made a process begin: a fork's child has the number of the thread that forked. Of others, it is known only where
    /// one thread can have done it.
    private func origin(ofMain index: Int) -> Origin? {
        let process = threads[index].process
        let begin = process.startTicks == 0 ? lives[index].beginning?.moment ?? 0 : start(process)
        func before(_ pid: UInt32) -> TracedProcess? {
            session.processes.last { $0.pid == pid && $0 !== process && start($0) < begin }
        }
        let maker = process.forkParent ?? before(process.pid) ?? before(process.parentPID)
        guard let maker, let candidates = members[maker.index] else { return nil }
        let object = process.origin == .fork ? lives[index].beginning?.object : nil
        let forkers = candidates.filter { object != nil && lives[$0].beginning?.object == object }
        // A number may have been another thread's before.
        let sure = forkers.last { (lives[$0].beginning?.moment ?? 0) <= begin }
        guard let thread = sure ?? (candidates.count == 1 ? candidates[0] : nil) else { return nil }
        return Origin(thread: thread, moment: begin, path: 0)
    }
}
