public import TraceFile

/// Finds out why a function's slowest calls are slow, in two passes over the recording, on all cores.
///
/// The first pass learns how long each call takes, the second adds up what lies below the slowest and below the typical ones,
/// path by path. A call within another call of the function is part of that one. Memory follows the number of different
/// durations (see ``ExactDurations``), of call paths below the function, and of slow calls, not the number of calls.
public struct Tail {
    /// Why there is nothing to compare.
    public enum Shortfall: Error, Equatable {
        /// No function matches of which a call was made.
        case noFunction
        /// No call of the function is in the stretch of time asked for, ...
        case noCall
        /// ... or none of them began and ended in the recording.
        case noWholeCall
        /// There are so few calls that none is typical.
        case tooFewCalls(UInt64)
    }

    private let session: Session
    private let resolver: FunctionResolver
    private let filter: TreeFilter
    private let slowest: SlowestPart
    private let workers: Int
    private let onProgress: (Double) -> Void

    /// - Parameters:
    ///   - filter: its stretch of time limits the calls of the function, its names and depth limit the paths below them. Its
    ///     cost is not used here.
    ///   - slowest: how many calls are taken for the slowest.
    ///   - workers: the number of threads to work with; 0 for one a core.
    ///   - onProgress: told at every chunk what part of the reading is done, 0...1, and 1 at the end. It is never called twice
    ///     at once.
    public init(
        of session: Session, resolver: FunctionResolver, filter: TreeFilter, slowest: SlowestPart, workers: Int = 0,
        onProgress: @escaping (Double) -> Void = { _ in }
    ) {
        self.session = session
        self.resolver = resolver
        self.filter = filter
        self.slowest = slowest
        self.workers = workers > 0 ? workers : WorkerPool.processors
        self.onProgress = onProgress
    }

    /// Compares the calls that `threads` make of the functions that `pattern` matches.
    ///
    /// - Complexity: O(records), twice.
    public func comparison(
        of threads: [TracedThread], matching pattern: Pattern
    ) throws(Shortfall) -> TailComparison {
        let spaces = threads.map { resolver.space(of: $0.process) }
        let matcher = Matcher(pattern, resolver.functions, hidesCompilerMade: filter.hidesCompilerMade)
        let replays = ThreadReplays(of: threads, clock: session.clock, workers: workers, passes: 2, onProgress)
        let (threadDurations, partial) = measure(replays, spaces, matcher)
        defer { for durations in threadDurations { durations.free() } }
        var all = ExactDurations()
        for durations in threadDurations { all.add(durations) }
        let ranks = DurationRanks(counts: all.counts)
        all.free()
        guard matcher.hasMatched else { throw .noFunction }
        guard ranks.calls > 0 else { throw partial.calls > 0 ? .noWholeCall : .noCall }
        let selection = TailSelection(ranks, slowest: slowest)
        let sums = addUp(
            replays, spaces, matcher, selection, ties: ties(selection, threadDurations))
        onProgress(1)
        guard let comparison = sums.comparison(ranks, selection, partial, filter) else {
            throw .tooFewCalls(ranks.calls)
        }
        return comparison
    }

    /// How many calls of the least duration of a slow one are slow, on each thread.
    private func ties(_ selection: TailSelection, _ threads: [ExactDurations]) -> [UInt64] {
        var rest = selection.ties
        return threads.map { durations in
            let own = min(rest, durations.calls(of: selection.least))
            rest -= own
            return own
        }
    }

    // MARK: Passes

    private func measure(
        _ replays: ThreadReplays, _ spaces: [AddressSpace], _ matcher: Matcher
    ) -> (durations: [ExactDurations], partial: OutermostCalls.Partial) {
        var found = [ExactDurations?](repeating: nil, count: replays.threads.count)
        var partial = OutermostCalls.Partial()
        replays.run { index, pool in
            DurationSink(calls(spaces[index], matcher, pool))
        } take: { index, sink in
            found[index] = sink.durations
            partial.add(sink.calls.partial)
            sink.calls.free()
        }
        return (found.compactMap { $0 }, partial)
    }

    private func addUp(
        _ replays: ThreadReplays, _ spaces: [AddressSpace], _ matcher: Matcher, _ selection: TailSelection,
        ties: [UInt64]
    ) -> TailSums {
        var sums = TailSums(resolver.functions)
        replays.run { index, pool in
            TailSink(calls(spaces[index], matcher, pool), selection, ties: ties[index])
        } take: { index, sink in
            sums.add(sink, of: replays.threads[index], at: index, spaces[index])
            sink.free()
        }
        return sums
    }

    private func calls(_ space: AddressSpace, _ matcher: Matcher, _ pool: WorkerPool) -> OutermostCalls {
        OutermostCalls(space, from: filter.from, to: filter.to) { address, epoch in
            pool.exclusively { matcher.matches(space.function(at: address, epoch: epoch)) }
        }
    }
}

/// Tells which functions were asked for. It is for one thread at a time to use.
private final class Matcher {
    private let pattern: Pattern
    private let functions: FunctionTable
    private let hidesCompilerMade: Bool
    /// Whether a function was.
    private(set) var hasMatched = false

    init(_ pattern: Pattern, _ functions: FunctionTable, hidesCompilerMade: Bool) {
        self.pattern = pattern
        self.functions = functions
        self.hidesCompilerMade = hidesCompilerMade
    }

    func matches(_ id: UInt32) -> Bool {
        let function = functions[id]
        guard pattern.matches(function), !(hidesCompilerMade && function.isCompilerMade) else { return false }
        hasMatched = true
        return true
    }
}
