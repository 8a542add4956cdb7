public import TraceAnalysis
public import TraceFile

/// What was called in a start, by call path; and the program's named scopes, one by one. Calls that were open at its end count up
/// to there.
public struct StartupCalls {
    /// All calls of a function by the same path.
    public struct Node: Sendable {
        public var function: UInt32
        /// Index of the caller's node; -1: none, -2 and below: initializer -2, -3 … of the process.
        public var caller: Int32
        /// Index among the threads that were read.
        public var thread: Int
        public var calls: UInt64 = 0
        public var total: UInt64 = 0
        public var shortest = UInt64.max
        public var callees: UInt64 = 0

        public var own: UInt64 { total - min(callees, total) }
        /// The initializer that it is a call of, directly.
        public var initializer: Int? { caller < -1 ? Int(-2 - caller) : nil }
    }

    /// A call of a named scope.
    public struct Scope: Sendable {
        public var function: UInt32
        public var thread: Int
        public var begin: UInt64
        public var end: UInt64
    }

    /// A call as it lies in time.
    public struct Span: Sendable {
        public var function: UInt32
        public var thread: Int
        public var depth: Int
        public var begin: UInt64
        public var end: UInt64
    }

    public private(set) var nodes: [Node] = []
    public private(set) var scopes: [Scope] = []
    /// Calls that no or one other call was open around, and that took a thousandth of the start or more.
    public private(set) var spans: [Span] = []
    public let threads: [TracedThread]
    /// Index of the thread that main runs on; nil when it recorded nothing.
    public let main: Int?

    /// - Parameter initializers: when each ran, in ns since the session's start.
    /// - Complexity: O(records) up to the end.
    public init(
        of process: TracedProcess, from begin: UInt64, until end: UInt64, initializers: [(begin: UInt64, end: UInt64)],
        clock: Clock,
        resolver: FunctionResolver
    ) {
        threads = process.threads.filter { !$0.keepsPaths }
        let main = threads.firstIndex { $0.tid == process.pid } ?? threads.indices.first
        self.main = main
        for (index, thread) in threads.enumerated() {
            var sink = StartupCallSink(
                index, resolver.space(of: process), until: end, initializers: index == main ? initializers : [],
                leastSpan: max((end - min(begin, end)) / 1000, 1), nodes: nodes, scopes: scopes)
            StackReplay.run(thread.onSharedClock, clock: clock, into: &sink)
            nodes = sink.nodes
            scopes = sink.scopes
            spans += sink.spans
        }
        for node in nodes.indices where nodes[node].caller >= 0 {
            nodes[Int(nodes[node].caller)].callees += nodes[node].total
        }
        scopes.sort { ($0.begin, $1.end) < ($1.begin, $0.end) }
    }

    /// The functions from a path's root to the node.
    public func path(to node: Int) -> [UInt32] {
        var path: [UInt32] = []
        var index = Int32(node)
        while index >= 0 {
            path.append(nodes[Int(index)].function)
            index = nodes[Int(index)].caller
        }
        return path.reversed()
    }
}

private struct StartupCallSink: CallSink {
    /// Index of a node.
    typealias Payload = Int32

    /// A call that is none: it began after the end.
    private static let none: Int32 = .min

    private struct Key: Hashable {
        var caller: Int32
        var function: UInt32
    }

    private let thread: Int
    private let space: AddressSpace
    private let limit: UInt64
    private let initializers: [(begin: UInt64, end: UInt64)]
    private var known: [Key: Int32] = [:]
    private var moment: UInt64 = 0
    private(set) var nodes: [StartupCalls.Node]
    private(set) var scopes: [StartupCalls.Scope]
    private let leastSpan: UInt64
    private(set) var spans: [StartupCalls.Span] = []

    init(
        _ thread: Int, _ space: AddressSpace, until limit: UInt64, initializers: [(begin: UInt64, end: UInt64)],
        leastSpan: UInt64, nodes: [StartupCalls.Node], scopes: [StartupCalls.Scope]
    ) {
        self.thread = thread
        self.space = space
        self.limit = limit
        self.initializers = initializers
        self.nodes = nodes
        self.leastSpan = leastSpan
        self.scopes = scopes
    }

    mutating func base(ofLane lane: UInt32) -> Int32 { -1 }

    /// What a call without a caller is a call of: an initializer that ran then, or nothing.
    private func root(at moment: UInt64) -> Int32 {
        let next = initializers.partitioningIndex { $0.begin > moment }
        return next > 0 && moment < initializers[next - 1].end ? Int32(-1 - next) : -1
    }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Int32>>) {
        moment = call.pointee.start
        guard moment < limit, !call.pointee.isInherited else {
            call.pointee.payload = Self.none
            return
        }
        let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
        var caller = (call - 1).pointee.payload
        if caller == -1 || caller == Self.none { caller = root(at: moment) }
        let key = Key(caller: caller, function: function)
        if let node = known[key] {
            call.pointee.payload = node
        } else {
            call.pointee.payload = Int32(nodes.count)
            known[key] = call.pointee.payload
            nodes.append(StartupCalls.Node(function: function, caller: caller, thread: thread))
        }
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Int32>>, end: UInt64, state: CallState) {
        moment = max(moment, end)
        let node = Int(call.pointee.payload), begin = call.pointee.start
        guard node >= 0 else { return }
        let end = max(min(end, limit), begin)
        nodes[node].calls += 1
        nodes[node].total += end - begin
        nodes[node].shortest = min(nodes[node].shortest, end - begin)
        let depth = nodes[node].caller < 0 ? 0 : nodes[Int(nodes[node].caller)].caller < 0 ? 1 : 2
        if depth < 2, end - begin >= leastSpan {
            spans.append(
                StartupCalls.Span(
                    function: nodes[node].function, thread: thread, depth: depth, begin: begin, end: end))
        }
        if space.functions.functions[Int(nodes[node].function)].address == GivenName.scopeBase {
            scopes.append(
                StartupCalls.Scope(function: nodes[node].function, thread: thread, begin: begin, end: end))
        }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Int32>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Int32>) -> Bool {
        // Calls that are open go on until somebody ends them: with the thread.
        true
    }
}
