internal import TraceFile

/// Puts together what threads found of a function's slowest and typical calls.
struct TailSums {
    private let functions: FunctionTable
    /// Both have the same nodes, whose functions are ids.
    private var slow = CallPathTable()
    private var typical = CallPathTable()
    private var slowSum = CallSum()
    private var typicalSum = CallSum()
    private var dropped = CallSum()
    private var slowCalls: [(thread: Int, label: ThreadLabel, call: TailSink.SlowCall, mark: String?)] = []
    /// By slow call: the paths with the most own time in it.
    private var longPaths: [[(node: UInt32, own: UInt64)]] = []

    init(_ functions: FunctionTable) { self.functions = functions }

    /// Adds what was found on a thread.
    ///
    /// - Parameter index: tells the thread's place among the threads.
    mutating func add(_ sink: TailSink, of thread: TracedThread, at index: Int, _ space: AddressSpace) {
        var ids = [UInt32](repeating: .max, count: sink.calls.keys.count)
        var places = [UInt32](repeating: 0, count: sink.table.count)
        for number in 1..<max(sink.table.count, 1) {
            let (slowTimes, typicalTimes) = (sink.slow[UInt32(number)], sink.typical[UInt32(number)])
            // Only calls that are neither slow nor typical have this path.
            if slowTimes.calls == 0, typicalTimes.calls == 0 { continue }
            let node = sink.table.nodes[number]
            let key = Int(node.function)
            if ids[key] == .max {
                let (address, epoch) = (
                    sink.calls.keys[node.function].pointee.address, sink.calls.keys[node.function].pointee.epoch
                )
                ids[key] = space.function(at: address, epoch: epoch)
            }
            let parent = places[Int(node.parent)]
            let place = slow.callee(of: parent, function: ids[key])
            let same = typical.callee(of: parent, function: ids[key])
            assert(place == same, "the tables differ")
            places[number] = place
            slow.add(slowTimes, to: place)
            typical.add(typicalTimes, to: place)
        }
        slowSum.add(sink.slowSum)
        typicalSum.add(sink.typicalSum)
        dropped.add(sink.dropped)
        let label = ThreadLabel(thread)
        for var call in sink.slowCalls {
            longPaths.append(sink.longPaths[call.longPaths].map { (places[Int($0.node)], $0.own) })
            call.node = places[Int(call.node)]
            slowCalls.append((index, label, call, call.mark.map { space.name($0.name) }))
        }
    }

    /// Compares the calls of all threads, with the paths that `filter` keeps; nil when no call is typical.
    ///
    /// - Complexity: O(n log n) in the number of paths, and in that of slow calls.
    consuming func comparison(
        _ durations: DurationRanks, _ selection: TailSelection, _ partial: OutermostCalls.Partial, _ filter: TreeFilter
    ) -> TailComparison? {
        guard typicalSum.calls > 0, let longest = durations.counts.last?.duration else {
            slow.free()
            typical.free()
            return nil
        }
        let (causes, slowest) = slowest(filter)
        let sides = (
            slow: TailComparison.Side(
                calls: slowSum.calls, total: slowSum.time, durations: selection.least...longest),
            typical: TailComparison.Side(
                calls: typicalSum.calls, total: typicalSum.time, durations: selection.typical)
        )
        // The filter looks at names and depths, which are the same in both.
        let trees = (
            slow: CallPathTree(slow, functions: functions).filtered(filter),
            typical: CallPathTree(typical, functions: functions).filtered(filter)
        )
        return TailComparison(
            functions: functions, durations: durations, slow: sides.slow, typical: sides.typical, slowest: slowest,
            causes: causes, partial: (partial.calls, partial.longest), dropped: dropped, trees: trees)
    }

    /// Returns the slow calls, the longest first, and their causes.
    private func slowest(_ filter: TreeFilter) -> (causes: [[UInt32]], calls: [TailComparison.SlowCall]) {
        let classifier = NameClassifier(filter, functions)
        var causes: [[UInt32]] = []
        var known: [UInt32: Int] = [:]
        func cause(of call: Int) -> Int {
            let node = longPaths[call].max { excess($0) < excess($1) }?.node ?? 0
            if let number = known[node] { return number }
            causes.append(path(to: node).filter { !classifier.match($0).contains(.hidden) })
            known[node] = causes.count - 1
            return causes.count - 1
        }
        let order = slowCalls.indices.sorted {
            let (a, b) = (slowCalls[$0], slowCalls[$1])
            return (b.call.duration, a.thread, a.call.start) < (a.call.duration, b.thread, b.call.start)
        }
        let calls = order.map { index in
            let (_, label, call, mark) = slowCalls[index]
            return TailComparison.SlowCall(
                thread: label, function: slow.nodes[Int(call.node)].function, start: call.start,
                duration: call.duration, isUnwound: call.isUnwound,
                mark: mark.map { ($0, call.mark?.moment ?? 0) }, cause: cause(of: index))
        }
        return (causes, calls)
    }

    /// By how much a path's own time in one call exceeds that in a typical call, in ns.
    private func excess(_ path: (node: UInt32, own: UInt64)) -> Double {
        Double(path.own) - Double(typical.sums(path.node).selfTime) / Double(typicalSum.calls)
    }

    private func path(to node: UInt32) -> [UInt32] {
        var functions: [UInt32] = []
        var node = node
        while node != 0 {
            functions.append(slow.nodes[Int(node)].function)
            node = slow.nodes[Int(node)].parent
        }
        return functions.reversed()
    }
}

extension CallPathTable {
    /// Adds to the sums of `node`. How long its single calls took is not known.
    fileprivate mutating func add(_ times: PathTimes, to node: UInt32) {
        var sums = sums(node)
        sums.calls &+= times.calls
        sums.total &+= times.total
        sums.selfTime &+= times.own
        (sums.minimum, sums.maximum) = (0, sums.total)
        set(sums, of: node)
    }
}
