internal import TraceFile
internal import TraceStatistics

/// Waits added up by place and object, those of most time first.
public struct WaitRows {
    public struct Waker {
        public var thread: Int
        public var path: Int32
        /// Whether it ended the waits by its own end.
        public var isEnd: Bool
        /// The time of the waits that it ended, in ns.
        public var time: UInt64
        public var calls: UInt64
    }

    public struct Row {
        public var kind: Wait.Kind
        public var object: UInt64
        public var descriptor: Int16
        /// What is behind the descriptor, where it was the same in all waits: an id among the process's names; else 0.
        public var name: UInt32
        /// Process of the object: an address means something there.
        public var thread: Int
        public var path: Int32
        public var calls: UInt64 = 0
        public var total: UInt64 = 0
        public var longest: UInt64 = 0
        public var p50: UInt64 = 0
        public var p99: UInt64 = 0
        /// Those that ended most of the time first.
        public var wakers: [Waker] = []
    }

    public let rows: [Row]

    private struct Key: Hashable {
        var kind: Wait.Kind
        var object: UInt64
        var descriptor: Int16
        var process: UInt32
        var path: Int32
    }

    private struct WakerKey: Hashable {
        var thread: Int
        var path: Int32
        var isEnd: Bool
    }

    /// - Complexity: O(n log n) in the number of waits.
    public init(_ waits: Waits) {
        var members: [Key: [Int]] = [:]
        var order: [Key] = []
        for (index, wait) in waits.waits.enumerated() {
            // Whichever descriptor was ready in the end, all of them were waited for.
            let object = wait.kind == .call(.poll) ? 0 : wait.object
            let key = Key(
                kind: wait.kind, object: object, descriptor: wait.descriptor,
                process: waits.threads[wait.thread].process.index, path: wait.path)
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(index)
        }
        let unsorted = order.map { key in WaitRows.row(key, members[key] ?? [], waits) }
        rows = unsorted.enumerated().sorted { ($1.element.total, $0.offset) < ($0.element.total, $1.offset) }
            .map(\.element)
    }

    private static func row(_ key: Key, _ members: [Int], _ waits: Waits) -> Row {
        let first = waits.waits[members[0]]
        let name = members.allSatisfy { waits.waits[$0].name == first.name } ? first.name : 0
        var row = Row(
            kind: key.kind, object: key.object, descriptor: key.descriptor, name: name, thread: first.thread,
            path: key.path)
        var wakers: [WakerKey: Waker] = [:]
        for wait in members.lazy.map({ waits.waits[$0] }) {
            row.calls += 1
            row.total &+= wait.time
            row.longest = max(row.longest, wait.time)
            guard let wake = wait.wake.map({ waits.wakes[$0] }) else { continue }
            let waker = WakerKey(thread: wake.thread, path: wake.path, isEnd: wake.isEnd)
            let new = Waker(thread: wake.thread, path: wake.path, isEnd: wake.isEnd, time: 0, calls: 0)
            wakers[waker, default: new].time &+= wait.time
            wakers[waker]?.calls += 1
        }
        let times = members.map { waits.waits[$0].time }.sorted()
        (row.p50, row.p99) = (NearestRank.value(of: times, 50), NearestRank.value(of: times, 99))
        row.wakers = wakers.values.sorted { ($1.time, $0.thread, $0.path) < ($0.time, $1.thread, $1.path) }
        return row
    }
}
