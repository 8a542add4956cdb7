internal import TraceFile

/// Call paths that were added up while they were recorded: one tree of a thread's. Times are in ticks.
///
/// While the thread goes on, its units are read one after the other, so some tell of a later moment than others. The
/// sums are made to fit: no callee takes longer than its caller.
struct RecordedPaths {
    private struct Path {
        /// Index of its caller's path, -1 for none.
        var caller: Int32
        var function: UInt64
        var calls: UInt64
        var total: UInt64
        var moment: UInt64
        var isOpen: Bool
        var isInherited: Bool
        var first: UInt64
        var shortest: UInt64
        var longest: UInt64
        /// The shortest but for a call that goes on: ``CallPathSums/shortestEnded``, in ticks.
        var shortestEnded: UInt64?
        var inherited: UInt64 = 0
        var inheritedCalls: UInt64 = 0
        var folded: UInt64 = 0
        /// The first of its ``durations``, and one more than that; 0 for none.
        var durations: UInt32 = 0
    }

    private let clock: Clock
    private let keepsTimes: Bool
    /// Callers before callees.
    private var paths: [Path] = []
    /// The index of each path by its number; -1 where there is none.
    private var places: [Int32] = []
    private var durations: [(bucket: UInt32, next: UInt32, calls: UInt64)] = []

    init(_ clock: Clock, keepsTimes: Bool) {
        self.clock = clock
        self.keepsTimes = keepsTimes
    }

    /// Adds the units of a chunk; chunks come in their order. What belongs to a path that is missing is left out.
    mutating func add(_ units: PathUnits) {
        let end = Int(units.first) + units.count
        if end > places.count { places += [Int32](repeating: -1, count: end - places.count) }
        units.forEach { index, unit in
            let owner = unit.path.map { Int($0) < places.count ? places[Int($0)] : -1 } ?? -1
            switch unit.kind {
            case .path:
                if unit.path != nil, owner < 0 { return }
                places[Int(units.first) + index] = Int32(paths.count)
                paths.append(
                    Path(
                        caller: owner, function: unit.function, calls: unit.calls, total: unit.total,
                        moment: unit.moment, isOpen: unit.isOpen, isInherited: unit.isInherited,
                        first: unit.firstTicks, shortest: unit.shortest, longest: unit.longest))
            case .folded:
                if owner >= 0 { paths[Int(owner)].folded &+= unit.calls }
            case .inherited:
                guard owner >= 0 else { return }
                paths[Int(owner)].inherited &+= unit.total
                paths[Int(owner)].inheritedCalls &+= unit.calls
            case .durations:
                guard owner >= 0 else { return }
                units.forEachDuration(at: index) { count($1, of: $0, at: Int(owner)) }
            }
        }
    }

    /// - Parameter duration: about; it is known better where it would be beyond the shortest or the longest call.
    private mutating func count(_ calls: UInt64, of duration: UInt64, at path: Int) {
        let (shortest, longest) = (paths[path].shortest, paths[path].longest)
        let duration = shortest <= longest ? min(max(duration, shortest), longest) : duration
        let bucket = UInt32(Bucket.index(of: clock.nanoseconds(in: duration)))
        durations.append((bucket, paths[path].durations, calls))
        paths[path].durations = UInt32(durations.count)
    }

    /// Ends the calls that are open, all at one moment.
    ///
    /// - Parameter goOn: whether they have not ended, as far as anybody knows.
    mutating func close(at end: UInt64, goOn: Bool) {
        guard keepsTimes else { return }
        for index in paths.indices where paths[index].isOpen {
            let start = paths[index].moment, time = end > start ? end - start : 0
            paths[index].total &+= time
            paths[index].moment = max(end, start)
            if paths[index].isInherited {
                paths[index].inherited &+= time
                paths[index].inheritedCalls &+= 1
                continue
            }
            if paths[index].durations == 0, paths[index].calls == 3 {
                // Those of the first two have no bucket yet.
                count(1, of: paths[index].shortest, at: index)
                count(1, of: paths[index].longest, at: index)
            }
            if goOn {
                paths[index].shortestEnded =
                    paths[index].shortest <= paths[index].longest ? paths[index].shortest : .max
            }
            paths[index].shortest = min(paths[index].shortest, time)
            paths[index].longest = max(paths[index].longest, time)
            if paths[index].calls > 2 { count(1, of: time, at: index) }
        }
    }

    /// Adds the paths to a table, by numbers of functions.
    ///
    /// - Complexity: O(n), amortised.
    func add(to table: inout CallPathTable, _ keys: inout FunctionKeys, _ space: AddressSpace) {
        var below = [UInt64](repeating: 0, count: paths.count)
        var sums = [CallPathSums](repeating: CallPathSums(), count: paths.count)
        var isCalled = [Bool](repeating: false, count: paths.count)
        for index in paths.indices.reversed() {
            let path = paths[index]
            isCalled[index] = isCalled[index] || path.calls > 0 || path.inheritedCalls > 0 || path.folded > 0
            guard isCalled[index] else { continue }
            sums[index] = self.sums(of: path, callees: below[index])
            guard path.caller >= 0 else { continue }
            isCalled[Int(path.caller)] = true
            below[Int(path.caller)] &+= sums[index].total
        }
        var nodes = [UInt32](repeating: 0, count: paths.count)
        for (index, path) in paths.enumerated() where isCalled[index] {
            let caller = Int(path.caller)
            if caller >= 0 { sums[index].firstStart = max(sums[index].firstStart, sums[caller].firstStart) }
            sums[index].lastEnd = max(
                sums[index].lastEnd, sums[index].firstStart &+ sums[index].maximum)
            let epoch = space.addressesChange ? space.epoch(at: path.first) : 0
            let node = table.callee(
                of: caller < 0 ? 0 : nodes[caller], function: keys.number(path.function, epoch))
            nodes[index] = node
            table.add(sums[index], path.durations, in: self, to: node)
        }
    }

    /// - Parameter callees: ns of all callees.
    private func sums(of path: Path, callees: UInt64) -> CallPathSums {
        var sums = CallPathSums()
        sums.calls = path.calls
        sums.total = max(clock.nanoseconds(in: path.total), callees)
        sums.selfTime = sums.total &- callees
        sums.inherited = min(clock.nanoseconds(in: path.inherited), sums.total)
        sums.inheritedCalls = path.inheritedCalls
        sums.dropped = CallSum(calls: path.folded, time: 0)
        sums.firstStart = clock.nanoseconds(at: path.first)
        sums.lastEnd = path.moment == 0 ? sums.firstStart : clock.nanoseconds(at: path.moment)
        if path.calls > 0 {
            let isKnown = path.shortest <= path.longest
            sums.minimum = isKnown ? clock.nanoseconds(in: path.shortest) : 0
            sums.maximum = isKnown ? clock.nanoseconds(in: path.longest) : 0
            sums.shortestEnded = path.shortestEnded.map { $0 == .max ? .max : clock.nanoseconds(in: $0) }
        }
        return sums
    }
}

extension RecordedPaths: HistogramSource {
    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        var entry = head
        while entry != 0 {
            let (bucket, next, calls) = durations[Int(entry) - 1]
            body(Int(bucket), calls)
            entry = next
        }
    }
}

extension CallPathSink {
    /// Adds what the thread's calls add up to, as it was recorded.
    ///
    /// - Complexity: O(units).
    mutating func add(recordedPathsOf thread: TracedThread, clock: Clock, onChunk: (Int) -> Void) {
        var recorded: RecordedPaths?
        var tree: UInt32 = 0, treeEnd: UInt64 = 0
        for index in thread.chunks.indices {
            defer { onChunk(index) }
            guard thread.payloadIsIntact(ofChunk: index), let units = thread.chunks[index].pathUnits else { continue }
            if recorded != nil, units.tree != tree { finish(&recorded, at: treeEnd, goOn: false) }
            if recorded == nil { recorded = RecordedPaths(clock, keepsTimes: units.keepsTimes) }
            tree = units.tree
            treeEnd = thread.chunks[index].endTicks
            recorded?.add(units)
            thread.release(chunk: index)
        }
        finish(&recorded, at: thread.lastTicks(), goOn: thread.process.end == .unknown)
    }

    private mutating func finish(_ recorded: inout RecordedPaths?, at end: UInt64, goOn: Bool) {
        recorded?.close(at: end, goOn: goOn)
        recorded?.add(to: &table, &keys, space)
        recorded = nil
    }
}
