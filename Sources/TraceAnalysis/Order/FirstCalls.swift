public import TraceFile

/// Finds out in which order the functions of a recording were called first.
public struct FirstCalls {
    private let session: Session
    private let resolver: FunctionResolver
    private let onProgress: (Double) -> Void

    /// - Parameter onProgress: told at every chunk what part of the reading is done, 0...1, and 1 at the end.
    public init(
        of session: Session, resolver: FunctionResolver, onProgress: @escaping (Double) -> Void = { _ in }
    ) {
        self.session = session
        self.resolver = resolver
        self.onProgress = onProgress
    }

    /// The functions that `threads` called no later than `end`, in ns since the session's start: the first one first.
    ///
    /// - Complexity: O(records), on all cores.
    public func functions(of threads: [TracedThread], until end: UInt64 = .max) -> [FunctionTable.Function] {
        var moments: [UInt32: UInt64] = [:]
        let spaces = threads.map { resolver.space(of: $0.process) }
        let bytes = Double(max(1, threads.reduce(0) { $0 + $1.bytes }))
        var read = 0
        let sizes = threads.map(\.bytes)
        // The longest threads come first, so that none is left for last.
        let order = threads.indices.sorted { (sizes[$0], $1) > (sizes[$1], $0) }
        let pool = WorkerPool(jobs: order.count) { job, pool in
            let (thread, space) = (threads[order[job]], spaces[order[job]])
            var sink = FirstCallSink(space)
            defer { sink.free() }
            StackReplay.run(
                thread, clock: session.clock,
                onChunk: { chunk in
                    let size = Chunk.headerSize + thread.chunks[chunk].payload.count
                    pool.exclusively {
                        read += size
                        onProgress(Double(read) / bytes)
                    }
                },
                into: &sink)
            pool.exclusively {
                for call in sink.firstCalls where call.moment <= end {
                    let function = space.function(at: call.address, epoch: call.epoch)
                    moments[function] = min(moments[function] ?? .max, call.moment)
                }
            }
        }
        pool.run(workers: min(WorkerPool.processors, order.count))
        onProgress(1)
        return moments.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map { resolver.functions.functions[Int($0.key)] }
    }
}
