public import TraceFile

/// What the parts of a chain were spent on, by function.
public struct ChainTimes {
    public struct Share {
        public var function: UInt32
        public var time: UInt64
    }

    /// Those of most time first. Of a wait, it is the function that waited.
    public private(set) var shares: [Share] = []
    /// By link: the function that ran longest in it; nil where none ran.
    public private(set) var longest: [UInt32?]
    /// The part of the chain within functions that were asked for.
    public private(set) var inside: UInt64 = 0

    /// - Parameter isAsked: whether the chain without a function, and what it calls, is asked for.
    /// - Complexity: O(records) of the threads in the chain.
    public init(
        of chain: Chain, _ waits: Waits, session: Session, resolver: FunctionResolver,
        isAsked: @escaping (UInt32) -> Bool
    ) {
        longest = Array(repeating: nil, count: chain.links.count)
        var sums: [UInt32: UInt64] = [:]
        var ran: [Int: [Int]] = [:]
        for (index, link) in chain.links.enumerated() {
            switch link.kind {
            case .ran: ran[link.thread, default: []].append(index)
            case .waited(let wait), .woken(let wait):
                let path = waits.paths.functions(of: waits.waits[wait].path)
                if let last = path.last { sums[last, default: 0] &+= link.end &- link.begin }
                if path.contains(where: isAsked) { inside &+= link.end &- link.begin }
            case .began(let origin):
                let path = waits.paths.functions(of: origin.path)
                if let last = path.last { sums[last, default: 0] &+= link.end &- link.begin }
                if path.contains(where: isAsked) { inside &+= link.end &- link.begin }
            case .unknown: break
            }
        }
        for (thread, links) in ran.sorted(by: { $0.key < $1.key }) {
            let traced = waits.threads[thread]
            var sink = ChainSink(
                resolver.space(of: traced.process), links.map { (chain.links[$0].begin, chain.links[$0].end) },
                isAsked: isAsked)
            StackReplay.run(traced.onSharedClock, clock: session.clock, into: &sink)
            inside &+= sink.inside
            for (link, times) in zip(links, sink.times) {
                longest[link] = times.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
                for (function, time) in times { sums[function, default: 0] &+= time }
            }
        }
        shares = sums.map { Share(function: $0.key, time: $0.value) }
            .sorted { ($1.time, $0.function) < ($0.time, $1.function) }
    }
}
