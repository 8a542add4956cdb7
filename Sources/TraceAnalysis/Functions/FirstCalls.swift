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
        ThreadReplays(of: threads, clock: session.clock, onProgress).run { index, _ in
            FirstCallSink(spaces[index])
        } take: { index, sink in
            for call in sink.firstCalls where call.moment <= end {
                let function = spaces[index].function(at: call.address, epoch: call.epoch)
                moments[function] = min(moments[function] ?? .max, call.moment)
            }
            sink.free()
        }
        onProgress(1)
        return moments.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map { resolver.functions.functions[Int($0.key)] }
    }
}
