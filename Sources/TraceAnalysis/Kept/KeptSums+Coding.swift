internal import TraceFile
internal import TraceText

extension KeptWriter {
    mutating func append(_ functions: FunctionTable) {
        append(UInt64(functions.modules.count))
        for module in functions.modules {
            append(module.path.utf8)
            append(module.buildID)
        }
        append(UInt64(functions.functions.count))
        for function in functions.functions {
            append(UInt64(function.module + 1))
            append(function.address)
        }
    }

    mutating func append(_ rows: [AggregateRow], dropped: CallSum, _ key: UInt64) {
        append(key)
        append(dropped.calls)
        append(dropped.time)
        append(UInt64(rows.count))
        for row in rows {
            guard case .function(let id) = row.subject else { preconditionFailure("a row of something else") }
            append(UInt64(id))
            for field in RowSums.keptFields { append(row.sums[keyPath: field]) }
            for percentile in [row.percentiles.p50, row.percentiles.p90, row.percentiles.p99] { append(percentile) }
        }
    }

    mutating func append(_ threads: [ThreadSums], _ key: UInt64) {
        append(key)
        append(UInt64(threads.count))
        for thread in threads {
            append(UInt64(thread.label.process.index))
            append(UInt64(thread.label.tid))
            append(thread.label.task.map { UInt64($0) + 1 } ?? 0)
            append(thread.label.name.utf8)
            for field in RowSums.keptFields { append(thread.sums[keyPath: field]) }
            append(thread.durations)
        }
    }

    mutating func append(histogramsOf tree: CallPathTree) {
        var counter = BucketCounter()
        for path in tree.paths where path.sums.calls > 2 { append(counter.durations(of: path, in: tree.histograms)) }
    }

    /// Writes each path: how many levels up it is from where a callee of the path before would be, with its flags; its
    /// function, calls and times. What follows from there being one or two calls is left out.
    mutating func append(_ tree: CallPathTree) {
        var counter = BucketCounter()
        var histogram: [UInt8] = []
        var open: [KeptCaller] = [KeptCaller()]
        append(UInt64(tree.paths.count))
        for path in tree.paths {
            let sums = path.sums
            let depth = Int(path.depth)
            let flags = KeptFlags(sums)
            append(UInt64(open.count - 1 - depth) << KeptFlags.bits | flags.rawValue)
            open.removeLast(open.count - 1 - depth)
            append(UInt64(path.function))
            append(sums.calls)
            append(sums.total)
            if !flags.contains(.hasOnlySelf) { append(sums.selfTime) }
            if flags.contains(.isRare) {
                for field in CallPathSums.rareFields { append(sums[keyPath: field]) }
            }
            if !flags.contains(.hasKnownExtremes) {
                append(sums.minimum)
                append(sums.maximum)
            } else if sums.calls == 2 {
                append(sums.minimum)
            }
            append(sums.firstStart &- open[depth].lastStart)
            append(sums.lastEnd &- sums.firstStart &- sums.maximum)
            open[depth].lastStart = sums.firstStart
            open.append(KeptCaller(lastStart: sums.firstStart))
            if sums.calls > 2 {
                histogram.removeAll(keepingCapacity: true)
                histogram.append(counter.durations(of: path, in: tree.histograms))
                append(UInt64(histogram.count))
            }
        }
    }
}

/// The caller that the path which is written or read next is described relative to.
private struct KeptCaller {
    /// When its previous callee began, or it itself when it had none yet.
    var lastStart: UInt64 = 0
    /// Its own total, and what the totals of its callees add up to.
    var total: UInt64 = 0
    var callees: UInt64 = 0

    /// The most that the roots' times may add up to, in ns: some 36 years.
    static let mostTime: UInt64 = 1 << 60
}

private struct KeptFlags: OptionSet {
    let rawValue: UInt64
    static let bits: UInt64 = 3
    /// All of the path's time is its own.
    static let hasOnlySelf = KeptFlags(rawValue: 1)
    /// Rare sums follow.
    static let isRare = KeptFlags(rawValue: 2)
    /// The total tells how long one or two calls took.
    static let hasKnownExtremes = KeptFlags(rawValue: 4)

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(_ sums: CallPathSums) {
        var flags: KeptFlags = []
        if sums.selfTime == sums.total { flags.insert(.hasOnlySelf) }
        if CallPathSums.rareFields.contains(where: { sums[keyPath: $0] != 0 }) { flags.insert(.isRare) }
        if let (minimum, maximum) = KeptFlags.extremes(sums, minimum: sums.minimum),
            (minimum, maximum) == (sums.minimum, sums.maximum)
        {
            flags.insert(.hasKnownExtremes)
        }
        self = flags
    }

    /// What the total tells of the shortest and the longest call; nil when there are more than two calls. With two,
    /// `minimum` is the shortest.
    static func extremes(_ sums: CallPathSums, minimum: UInt64) -> (UInt64, UInt64)? {
        let time = sums.total &- sums.inherited
        switch sums.calls {
        case 0: return (.max, 0)
        case 1: return (time, time)
        case 2: return (minimum, time &- minimum)
        default: return nil
        }
    }
}

/// Makes histograms anew in the order of their buckets.
private struct BucketCounter {
    private var reader = PercentileReader()

    mutating func durations(of path: CallPath, in source: HistogramStore) -> DurationCounts {
        reader.add(source, path.histogram, of: path.sums)
        return reader.takeCounts(within: path.sums.minimum...path.sums.maximum)
    }
}

extension CallPathSums {
    fileprivate static let rareFields: [any WritableKeyPath<CallPathSums, UInt64> & Sendable] = [
        \.inherited, \.inheritedCalls, \.dropped.calls, \.dropped.time, \.offCPU.blocked, \.offCPU.runnable,
    ]
}

extension RowSums {
    fileprivate static let keptFields: [any WritableKeyPath<RowSums, UInt64> & Sendable] = [
        \.calls, \.total, \.selfTime, \.inherited, \.inheritedCalls, \.suspended, \.minimum, \.maximum, \.durations,
        \.taken, \.dropped.calls, \.dropped.time, \.offCPU.blocked, \.offCPU.runnable, \.selfOffCPU.blocked,
        \.selfOffCPU.runnable,
    ]
}

// MARK: Reading

extension LEB128Reader {
    /// The ids in `functions` of all kept functions, or nil when two of them have become one.
    mutating func takeNames(_ functions: FunctionTable) -> [UInt32]? {
        var modules: [Int32] = []
        for _ in 0..<takeCount() {
            let path = takeBytes()
            modules.append(
                functions.intern(ModuleIdentity(path: String(decoding: path, as: UTF8.self), buildID: takeBytes())))
        }
        var ids: [UInt32] = []
        for _ in 0..<takeCount() {
            let module = take(below: modules.count + 1)
            let address = take()
            if hasFailed { return nil }
            let owner = module == 0 ? -1 : modules[module - 1]
            ids.append(functions.intern(FunctionTable.Function(module: owner, address: address)))
        }
        return hasFailed || Set(ids).count < ids.count ? nil : ids
    }

    mutating func takeRows(_ ids: [UInt32], _ key: UInt64) -> (rows: [AggregateRow], dropped: CallSum)? {
        guard take() == key else { return nil }
        let dropped = CallSum(calls: take(), time: take())
        var rows: [AggregateRow] = []
        for _ in 0..<takeCount() {
            let function = take(below: ids.count)
            if hasFailed { return nil }
            let sums = takeSums()
            let percentiles = Percentiles(p50: take(), p90: take(), p99: take())
            rows.append(AggregateRow(.function(ids[function]), kept: sums, percentiles))
        }
        return hasFailed ? nil : (rows, dropped)
    }

    mutating func takeThreads(of session: Session, _ key: UInt64) -> [ThreadSums]? {
        guard take() == key else { return nil }
        var threads: [ThreadSums] = []
        for _ in 0..<takeCount() {
            let process = take(below: session.processes.count)
            let (tid, task) = (UInt32(clamping: take()), take())
            let name = String(decoding: takeBytes(), as: UTF8.self)
            let sums = takeSums()
            let isPlausible = sums.calls == 0 || sums.minimum <= sums.maximum && sums.maximum <= KeptCaller.mostTime
            guard let durations = takeDurations(), isPlausible, !hasFailed else { return nil }
            let label = ThreadLabel(
                process: session.processes[process], tid: tid, task: task == 0 ? nil : UInt32(clamping: task - 1),
                name: name)
            threads.append(ThreadSums(label, sums, durations))
        }
        return threads
    }

    private mutating func takeSums() -> RowSums {
        RowSums.keptFields.reduce(into: RowSums()) { $0[keyPath: $1] = take() }
    }

    /// Paths whose functions have the ids `ids`; nil when what the bytes say of them cannot be true.
    mutating func takePaths(_ ids: [UInt32], _ histograms: KeptHistograms) -> CallPathStore? {
        let count = takeCount()
        let nodes = GrowingMemory<PathNode>(capacity: count + 1)
        let depths = GrowingMemory<UInt32>(capacity: max(count, 1))
        var rares = RareSumsArena()
        let isSound = takePaths(count, nodes.start, depths.start, &rares, ids, histograms.bytes.count)
        // The store frees the memory, whether or not the paths prove sound.
        let store = CallPathStore(
            count: count, nodes: nodes, depths: depths, rares: rares, histograms: HistogramStore(histograms))
        return isSound ? store : nil
    }

    private mutating func takePaths(
        _ count: Int, _ nodes: UnsafeMutablePointer<PathNode>, _ depths: UnsafeMutablePointer<UInt32>,
        _ rares: inout RareSumsArena, _ ids: [UInt32], _ histogramBytes: Int
    ) -> Bool {
        guard count < Int(Int32.max), histogramBytes < Int(UInt32.max) else { return false }
        /// The paths that may call the next one. The first entry stands for no path.
        var open: [(path: Int, caller: KeptCaller)] = [(-1, KeptCaller(total: KeptCaller.mostTime))]
        var histogram: UInt64 = 0
        func close(downTo depth: Int, at path: Int) {
            for ended in open[(depth + 1)...] { nodes[ended.path + 1].link = UInt32(path) }
            open.removeLast(open.count - 1 - depth)
        }
        for path in 0..<count {
            let head = take()
            let flags = KeptFlags(rawValue: head & 7)
            guard head >> KeptFlags.bits < UInt64(open.count) else { return false }
            let depth = open.count - 1 - Int(head >> KeptFlags.bits)
            close(downTo: depth, at: path)
            let function = take(below: ids.count)
            let (sums, bytes) = takeSums(flags, after: open[depth].caller.lastStart)
            guard !hasFailed, sums.isPlausible, open[depth].caller.takeCallee(sums) else { return false }
            let node = nodes + (path + 1)
            node.initialize(
                to: PathNode(function: ids[function], parent: UInt32(bitPattern: Int32(open[depth].path))))
            node.pointee.set(sums, &rares)
            if sums.calls > 2 {
                guard bytes > 0, bytes <= UInt64(histogramBytes) - histogram else { return false }
                node.pointee.histogram = UInt32(histogram) + 1
                histogram += bytes
            }
            depths[path] = UInt32(depth)
            open[depth].caller.lastStart = sums.firstStart
            open.append((path, KeptCaller(lastStart: sums.firstStart, total: sums.total)))
        }
        close(downTo: 0, at: count)
        return histogram == UInt64(histogramBytes)
    }

    /// The sums of a path, and how many bytes its histogram takes.
    private mutating func takeSums(_ flags: KeptFlags, after start: UInt64) -> (CallPathSums, UInt64) {
        var sums = CallPathSums()
        sums.calls = take()
        sums.total = take()
        sums.selfTime = flags.contains(.hasOnlySelf) ? sums.total : take()
        if flags.contains(.isRare) {
            for field in CallPathSums.rareFields { sums[keyPath: field] = take() }
        }
        if !flags.contains(.hasKnownExtremes) {
            sums.minimum = take()
            sums.maximum = take()
        } else if let (minimum, maximum) = KeptFlags.extremes(sums, minimum: sums.calls == 2 ? take() : 0) {
            sums.minimum = minimum
            sums.maximum = maximum
        }
        sums.firstStart = start &+ take()
        sums.lastEnd = sums.firstStart &+ sums.maximum &+ take()
        return (sums, sums.calls > 2 ? take() : 0)
    }
}

extension CallPathSums {
    /// Whether calls can have these sums.
    fileprivate var isPlausible: Bool {
        let own = selfTime.addingReportingOverflow(dropped.time)
        return inherited <= total && offCPU.within(total) == offCPU && !own.overflow && own.partialValue <= total
            && firstStart <= lastEnd
            && (calls == 0 ? minimum == .max && maximum == 0 : minimum <= maximum && maximum <= total - inherited)
    }
}

extension KeptCaller {
    /// Whether a callee's time has room in its caller's, beside that of the callees before it.
    fileprivate mutating func takeCallee(_ sums: CallPathSums) -> Bool {
        let (callees, overflow) = callees.addingReportingOverflow(sums.total)
        guard !overflow, callees <= total else { return false }
        self.callees = callees
        return true
    }
}
