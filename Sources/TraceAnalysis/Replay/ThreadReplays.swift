internal import TraceFile

/// Replays threads, each into a sink of its own, on all cores, once or several times.
final class ThreadReplays {
    let threads: [TracedThread]
    private let clock: Clock
    private let workers: Int
    private let bytes: Double
    private var read = 0
    private let onProgress: (Double) -> Void

    /// - Parameters:
    ///   - workers: the number of threads to work with.
    ///   - passes: how often all threads are going to be replayed.
    ///   - onProgress: told at every chunk what part of the reading is done, 0...1. It is never called twice at once.
    init(
        of threads: [TracedThread], clock: Clock, workers: Int = WorkerPool.processors, passes: Int = 1,
        _ onProgress: @escaping (Double) -> Void
    ) {
        self.threads = threads
        self.clock = clock
        self.workers = workers
        bytes = Double(max(1, threads.reduce(0) { $0 + $1.bytes } * passes))
        self.onProgress = onProgress
    }

    /// Replays each thread, and hands its sink to `take`, one at a time.
    ///
    /// - Parameter sink: makes the sink of the thread at an index.
    func run<Sink: CallSink>(_ sink: (Int, WorkerPool) -> Sink, take: (Int, Sink) -> Void) {
        // The longest threads come first, so that none is left for last.
        let sizes = threads.map(\.bytes)
        let order = threads.indices.sorted { (sizes[$0], $1) > (sizes[$1], $0) }
        withoutActuallyEscaping(sink) { sink in
            withoutActuallyEscaping(take) { take in
                let pool = WorkerPool(jobs: order.count) { [self] job, pool in
                    let thread = threads[order[job]]
                    var sink = sink(order[job], pool)
                    StackReplay.run(
                        thread, clock: clock,
                        onChunk: { chunk in
                            let bytes = Chunk.headerSize + thread.chunks[chunk].payload.count
                            pool.exclusively { self.add(bytes) }
                        },
                        into: &sink)
                    pool.exclusively { take(order[job], sink) }
                }
                pool.run(workers: min(workers, order.count))
            }
        }
    }

    private func add(_ bytes: Int) {
        read += bytes
        onProgress(Double(read) / self.bytes)
    }
}
