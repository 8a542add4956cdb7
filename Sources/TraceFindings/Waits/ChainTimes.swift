public import TraceAnalysis
public import TraceFile

/// What the parts of a chain were spent on, by function. Times in ns.
public struct ChainTimes {
    public struct Share {
        public var function: UInt32
        /// Within its calls, and in what these called and waited for.
        public var total: UInt64
        /// In itself; of a wait, it is the function that waited.
        public var own: UInt64
    }

    /// Those of most time first, and of these the outer ones.
    public let shares: [Share]
    /// By link: what ran in it, and how long.
    public let ran: [[UInt32: UInt64]]
    /// The part of the chain within functions that were asked for.
    public private(set) var inside: UInt64 = 0

    /// - Parameter isAsked: whether the chain without a function, and what it calls, is asked for.
    /// - Complexity: O(records) of the threads in the chain, and O(depth) for each call path in it.
    public init(
        of chain: Chain, _ waits: Waits, session: Session, resolver: FunctionResolver, isAsked: (UInt32) -> Bool
    ) {
        var paths = waits.paths
        var times: [Int32: UInt64] = [:]
        var links: [Int: [Int]] = [:]
        for (index, link) in chain.links.enumerated() {
            let path: Int32? =
                switch link.kind {
                case .ran: nil
                case .waited(let wait), .woken(let wait): waits.waits[wait].path
                case .began(let origin): origin.path
                case .unknown: 0
                }
            if let path {
                times[path, default: 0] &+= link.end &- link.begin
            } else {
                links[link.thread, default: []].append(index)
            }
        }
        var ran = [[UInt32: UInt64]](repeating: [:], count: chain.links.count)
        for (thread, links) in links.sorted(by: { $0.key < $1.key }) {
            let traced = waits.threads[thread]
            var sink = ChainSink(
                resolver.space(of: traced.process), links.map { (chain.links[$0].begin, chain.links[$0].end) },
                paths: paths)
            StackReplay.run(traced.onSharedClock, clock: session.clock, into: &sink)
            paths = sink.paths
            for (link, found) in zip(links, sink.times) {
                for (path, time) in found {
                    times[path, default: 0] &+= time
                    if let function = paths.last(of: path) { ran[link][function, default: 0] &+= time }
                }
            }
        }
        self.ran = ran
        var sums: [UInt32: (own: UInt64, total: UInt64, depth: Int)] = [:]
        for (path, time) in times {
            let functions = paths.functions(of: path)
            if functions.contains(where: isAsked) { inside &+= time }
            if let last = functions.last { sums[last, default: (0, 0, .max)].own &+= time }
            var seen: Set<UInt32> = []
            for (depth, function) in functions.enumerated() where seen.insert(function).inserted {
                let sum = sums[function, default: (0, 0, .max)]
                sums[function] = (sum.own, sum.total &+ time, min(sum.depth, depth))
            }
        }
        shares = sums.sorted {
            ($1.value.total, $0.value.depth, $0.key) < ($0.value.total, $1.value.depth, $1.key)
        }.map { Share(function: $0.key, total: $0.value.total, own: $0.value.own) }
    }
}
