internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// Finds out which calls of each thread are open, once each `--interval` on average, and adds them up by path.
///
/// Nothing is sent to the program, and nothing of it is stopped: the recorder reads its memory. What was found goes to the
/// log now and then, as trees of paths that readers add up.
final class StackSampler: @unchecked Sendable {
    private struct Key: Hashable {
        let process: UInt32, thread: UInt32
    }

    private struct Thread {
        var stack = ThreadStack()
        var tree: SampleTree
        var place: SampleChunks.Tree
        /// The look that has found it last.
        var look: UInt64 = 0
    }

    private let live: LiveBuffers
    private let clock: SessionClock
    private let options: RecordOptions
    private let stopWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private var worker: BackgroundThread?
    /// Only the worker uses these while there is one.
    private var threads: [Key: Thread] = [:]
    private var before: UInt64
    private var paths = 0
    /// When the log is to have what was found, and how long after that again. Ticks.
    private var due: UInt64, pause: UInt64
    private(set) var facts = Facts()
    /// What waits for whoever writes the log.
    private var pending: [(paths: [SampledProcess.Path], place: SampleChunks.Tree)] = []
    /// The time between two looks, in ns, as it was when that was found.
    private var pendingPeriod: UInt64 = 0
    private var lock = pthread_mutex_t()

    /// What became of the samples.
    struct Facts {
        var samples: UInt64 = 0, torn: UInt64 = 0, threads = 0
        /// Why a process may not be looked into.
        var refusal: Int32?
        /// The time of all looks, in ns.
        var time: UInt64 = 0
        var looks: UInt64 = 0
        /// The mean time between two looks, in ns.
        var period: UInt64 { looks == 0 ? 0 : time / looks }
    }

    /// The longest time that what was found stays out of the log, in seconds.
    private static let longestPause: UInt64 = 32

    /// - Parameter directory: the session's, with its buffers.
    init(_ directory: String, _ clock: SessionClock, _ options: RecordOptions) throws(TraceFileError) {
        live = try LiveBuffers(of: directory)
        self.clock = clock
        self.options = options
        before = clock.now
        pause = clock.ticksPerSecond
        due = before + pause
        stopWord.initialize(to: 0)
        pthread_mutex_init(&lock, nil)
    }

    deinit { stopWord.deallocate() }

    /// Looks from now on, on a thread of its own.
    func start() {
        fathom_store32(stopWord, 0)
        before = clock.now
        worker = BackgroundThread { [self] in run() }
    }

    /// Looks no more. What was found is ready to be written.
    func stop() {
        fathom_store32(stopWord, 1)
        fathom_wake32(stopWord)
        worker?.join()
        worker = nil
        for key in threads.keys { settle(key) }
    }

    /// Tells what came of it. It has been stopped.
    func summarize(into summary: inout RecordingSummary) {
        summary.samples = facts.samples
        summary.tornSamples = facts.torn
        summary.threads = facts.threads
        summary.samplePeriod = facts.looks == 0 ? options.interval : facts.period
        summary.sampleRefusal = facts.refusal.map { String(cString: strerror($0)) }
    }

    /// Writes what is ready. Whoever writes the log calls this.
    func write(to log: TraceLogWriter) {
        pthread_mutex_lock(&lock)
        let (ready, period) = (pending, pendingPeriod)
        pending = []
        pthread_mutex_unlock(&lock)
        guard !ready.isEmpty else { return }
        let chunks = SampleChunks(log, from: clock.start.ticks, to: clock.now)
        for (paths, place) in ready {
            chunks.append(paths, to: place, period: period) { $0.time }
        }
    }

    /// Sleeps for half to one and a half of the interval, at random, because a program that does something at an interval of
    /// its own would always be found at the same point.
    private func run() {
        while fathom_load32(stopWord) == 0 {
            let time = options.interval / 2 + .random(in: 0...options.interval)
            fathom_wait32(stopWord, 0, time)
            look()
        }
    }

    /// Takes a sample of each thread, which stands for the time since the last one.
    private func look() {
        let now = clock.now, elapsed = now - min(before, now)
        before = now
        facts.looks += 1
        facts.time += clock.nanoseconds(ticks: elapsed)
        for stack in live.stacks() {
            let key = Key(process: stack.process, thread: stack.thread)
            if threads[key] == nil {
                facts.threads += 1
                threads[key] = Thread(
                    tree: SampleTree(limit: room(0)),
                    place: SampleChunks.Tree(
                        process: stack.process, thread: stack.thread, pid: stack.pid, tid: stack.tid,
                        name: stack.name))
            }
            threads[key]!.look = facts.looks
            threads[key]!.place.name = stack.name
            guard stack.calls != 0 else { continue }
            switch threads[key]!.stack.read(stack) {
            case .read:
                let functions = threads[key]!.stack.functions
                guard !functions.isEmpty else { continue }
                let known = threads[key]!.tree.paths.count
                threads[key]!.tree.limit = room(known)
                threads[key]!.tree.add(functions, time: elapsed)
                paths += threads[key]!.tree.paths.count - known
                facts.samples += 1
            case .torn: facts.torn += 1
            case .refused(let error): if error != ESRCH { facts.refusal = error }
            }
        }
        for (key, thread) in threads where thread.look != facts.looks {
            settle(key)
            threads[key] = nil
        }
        guard now >= due else { return }
        for key in threads.keys { settle(key) }
        pause = min(pause * 2, Self.longestPause * clock.ticksPerSecond)
        due = now + pause
    }

    /// How many paths a tree of `known` may have, so that all have no more than was asked for.
    private func room(_ known: Int) -> Int { known + max(options.maxPaths - paths, 0) }

    /// Makes what was found of a thread ready to be written.
    private func settle(_ key: Key) {
        guard let thread = threads[key], !thread.tree.paths.isEmpty else { return }
        pthread_mutex_lock(&lock)
        pending.append((thread.tree.paths, thread.place))
        pendingPeriod = facts.period
        pthread_mutex_unlock(&lock)
        paths -= thread.tree.paths.count
        threads[key]!.place.pass(thread.tree.paths.count)
        threads[key]!.tree = SampleTree(limit: room(0))
    }
}
