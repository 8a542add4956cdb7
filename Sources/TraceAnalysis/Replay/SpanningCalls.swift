internal import TraceFile

/// Finds out what became of calls that span chunks, without reading all of the chunks that they span.
///
/// Every chunk begins with the path of its open calls. Where the same callee of a call is open at both ends of a
/// stretch of chunks, nothing happened in between that changes the call's own sums. So only those chunks are read in
/// which one of its callees ends, and each of them once.
///
/// This knows nothing of filters by function. It has an answer only where the recording is whole. Where it has none,
/// the reader has to go through all chunks.
final class SpanningCalls {
    /// The sums over the callees of a call, and over the callees that were left out.
    struct Sums: BitwiseCopyable {
        var callees: UInt64 = 0
        var dropped = CallSum()

        mutating func add(_ other: Sums) {
            callees &+= other.callees
            dropped.add(other.dropped)
        }
    }

    struct End: BitwiseCopyable {
        var sums: Sums
        /// In ns since the session's start.
        var time: UInt64
        var state: CallState
    }

    private enum Fate {
        case ended(End)
        case open
        case unknown
    }

    private let thread: TracedThread
    private let clock: Clock
    private let outlines: ChunkOutlines?
    /// By chunk.
    private var summaries: [Int: Summary] = [:]
    /// The chunk that was asked for last, and how many before it were asked for one after another.
    private var run = (last: -1, count: 0)

    /// - Returns: nil when the chunks do not tell enough.
    /// - Complexity: O(chunks), of which the headers alone are read.
    init?(_ thread: TracedThread, clock: Clock, store: OutlineStore? = nil) {
        guard !thread.isJoined, !thread.chunks.isEmpty, thread.hasWholePaths else { return nil }
        // Damage is not reported from here: the replay of the whole thread reports it.
        self.thread = thread.part(0..<thread.chunks.count, damage: DamageLog())
        self.clock = clock
        outlines = store.flatMap { ChunkOutlines(thread, clock: clock, store: $0) }
    }

    var chunks: ChunkList { thread.chunks }

    /// Chunk `index`, of whose beginning the open calls can be read until another chunk is asked for; nil when it cannot be read.
    func beginning(of index: Int) -> Chunk? { thread.hold(chunk: index) ? chunks[index] : nil }

    /// The chunks in which something may have happened from `from` to `to`, in ns since the session's start.
    func chunks(from: UInt64, to: UInt64) -> Range<Int> {
        let first = partition { begin(of: $0) >= from }
        let end = partition { begin(of: $0) > to }
        // The chunk before the first one may reach into the stretch.
        return max(first - 1, 0)..<max(end, first, 1)
    }

    /// The beginning of a chunk in the thread's own time, in ns since the session's start.
    private func begin(of index: Int) -> UInt64 { thread.own(ticks: chunks[index].beginTicks, clock) }

    /// The first chunk for which `isBehind` holds. It must hold for all later chunks, too.
    private func partition(_ isBehind: (Int) -> Bool) -> Int {
        chunks.indices.partitioningIndex(where: isBehind)
    }

    /// The end of the call at `depth` that is open where chunk `index` begins; nil when it cannot be told.
    ///
    /// - Parameter sums: the sums that the call had before.
    func end(of call: PathEntry, depth: Int, from index: Int, _ sums: Sums) -> End? {
        guard isOpen(call, depth, at: index) == true else { return nil }
        var sums = sums
        guard case .ended(let end) = follow(depth, from: index, to: chunks.count, &sums) else { return nil }
        return end
    }

    /// For each call that is open where chunk `index` begins, outermost first, the sums that it had until then. Nil
    /// when they cannot be told.
    func sums(before index: Int) -> [Sums]? {
        guard thread.payloadIsIntact(ofChunk: index) else { return nil }
        let chunk = chunks[index]
        // Other chunks are read in between.
        let open = (0..<Int(chunk.depth)).map(chunk.path(at:))
        var result: [Sums] = []
        for (depth, call) in open.enumerated() {
            var birth = partition { chunks[$0].beginTicks > call.enterTicks } - 1
            if birth >= 0, isOpen(call, depth, at: birth) != false { birth -= 1 }
            var sums = Sums()
            if birth >= 0 {
                guard birth < index, let begun = summary(birth), depth >= begun.kept,
                    depth - begun.kept < begun.begun.count
                else { return nil }
                sums = begun.begun[depth - begun.kept]
            }
            guard isOpen(call, depth, at: birth + 1) == true,
                case .open = follow(depth, from: birth + 1, to: index, &sums)
            else { return nil }
            result.append(sums)
        }
        return result
    }

    /// Forgets chunk `index`. Nothing will be asked of it any more.
    func forget(_ index: Int) { summaries[index] = nil }

    /// Follows the call at `depth` from the beginning of chunk `start` to that of chunk `limit`.
    private func follow(_ depth: Int, from start: Int, to limit: Int, _ sums: inout Sums) -> Fate {
        var index = start
        while index < limit {
            guard let change = change(below: depth, from: index, to: limit) else { return .unknown }
            if change == limit { return .open }
            guard let summary = summary(change) else { return .unknown }
            if summary.kept <= depth {
                let end = summary.ended[summary.kept + summary.ended.count - 1 - depth]
                sums.add(end.sums)
                return .ended(End(sums: sums, time: end.time, state: end.state))
            }
            guard summary.kept == depth + 1 else { return .unknown }
            sums.add(summary.added)
            index = change + 1
        }
        return .open
    }

    /// The last chunk, up to `limit`, at whose beginning the call at `depth` has the same callee open as at the
    /// beginning of chunk `index`; `index` when no callee is open there. Nil when that cannot be told.
    ///
    /// - Complexity: O(log chunks between the two).
    private func change(below depth: Int, from index: Int, to limit: Int) -> Int? {
        guard depth + 1 < Int(chunks[index].depth) else { return index }
        guard let callee = thread.openCall(depth + 1, ofChunk: index) else { return nil }
        let last = min(limit, chunks.count - 1)
        var (low, step) = (index, 1)
        // `high` is the first chunk that is known to begin without the callee.
        var high = last + 1
        while low < last {
            let next = min(low + step, last)
            guard let isOpen = isOpen(callee, depth + 1, at: next) else { return nil }
            if !isOpen {
                high = next
                break
            }
            low = next
            step *= 2
        }
        while low + 1 < high {
            let middle = (low + high) / 2
            guard let isOpen = isOpen(callee, depth + 1, at: middle) else { return nil }
            if isOpen { low = middle } else { high = middle }
        }
        return low
    }

    /// Whether `call` is open where chunk `index` begins; nil when that chunk is damaged.
    private func isOpen(_ call: PathEntry, _ depth: Int, at index: Int) -> Bool? {
        guard depth < Int(chunks[index].depth) else { return false }
        guard let entry = thread.openCall(depth, ofChunk: index) else { return nil }
        return entry.function == call.function && entry.enterTicks == call.enterTicks
    }

    /// What one chunk tells about the calls that are open where it begins or ends.
    private struct Summary {
        /// Calls that were open at the beginning and have ended, innermost first.
        var ended: [End] = []
        /// The sums that the chunk adds to the innermost of the calls that are open from its beginning to its end. It adds
        /// nothing to the others.
        var added = Sums()
        /// The sums, at the end, of the calls that began here and did not end, outermost first.
        var begun: [Sums]
        /// The number of calls that are open from beginning to end.
        var kept: Int

        init(_ outline: ChunkOutline, depth: Int) {
            // A call's callees are those that began in the chunk, and the one that was open before.
            var before: UInt64 = 0
            for call in outline.ended {
                ended.append(End(sums: Sums(call.part, before), time: call.time, state: call.state))
                before = call.total
            }
            added = Sums(outline.inside, before)
            begun = outline.begun.map { Sums($0.part, 0) }
            kept = depth - ended.count
        }
    }

    private func summary(_ index: Int) -> Summary? {
        if let known = summaries[index] { return known }
        run = (index, index == run.last + 1 ? run.count + 1 : 0)
        guard let outline = outlines?.outline(of: index, makes: run.count >= SpanningCalls.longRun) ?? read(index)
        else {
            return nil
        }
        let summary = Summary(outline, depth: Int(chunks[index].depth))
        if summary.kept < 0 { return nil }
        summaries[index] = summary
        return summary
    }

    /// After so many chunks one after another, more of them are going to be asked for.
    private static let longRun = 16

    private func read(_ index: Int) -> ChunkOutline? {
        guard thread.payloadIsIntact(ofChunk: index) else { return nil }
        return ChunkOutlines.one(index, of: thread, clock: clock)
    }
}

extension SpanningCalls.Sums {
    fileprivate init(_ part: ChunkOutline.Part, _ before: UInt64) {
        self.init(callees: part.callees &+ before, dropped: part.dropped)
    }
}
