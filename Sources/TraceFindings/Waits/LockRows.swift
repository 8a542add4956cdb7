public import TraceFile

/// The locks that threads waited for, those of most waiting first: who held them, and how threads queued up.
public struct LockRows {
    public struct Holder {
        public var thread: Int
        /// Where the lock was given back.
        public var path: Int32
        public var calls: UInt64 = 0
        /// For how long the lock was held, as far as that is known, in ns.
        public var total: UInt64 = 0
        public var longest: UInt64 = 0
    }

    /// A stretch of time in which somebody waited for the lock at every moment.
    public struct Convoy: Equatable {
        public var begin: UInt64
        public var end: UInt64
        public var waits: UInt64
        public var threads: Int
        /// How many waited at once, at most.
        public var most: Int
    }

    public struct Row {
        public var kind: WaitKind
        public var object: UInt64
        /// A thread of its process: an address means something there.
        public var thread: Int
        public var waits: UInt64 = 0
        /// The time of the waits, in ns.
        public var waited: UInt64 = 0
        /// How often it was given back while somebody waited for it, and for how long it had been held then, in ns.
        public var calls: UInt64 = 0
        public var held: UInt64 = 0
        public var longest: UInt64 = 0
        /// Those of `calls` of which it is not known for how long.
        public var unknown: UInt64 = 0
        /// Those that held it for most of the time first.
        public var holders: [Holder] = []
        public var convoy: Convoy
    }

    public let rows: [Row]

    private struct Key: Hashable {
        var process: UInt32
        var kind: WaitKind
        var object: UInt64
    }

    private struct HolderKey: Hashable {
        var thread: Int
        var path: Int32
    }

    /// - Complexity: O(n log n) in the number of waits and of what ends them.
    public init(_ waits: Waits) {
        var members: [Key: [Int]] = [:]
        var order: [Key] = []
        func key(_ kind: WaitKind, _ object: UInt64, _ thread: Int) -> Key {
            Key(process: waits.threads[thread].process.index, kind: kind, object: object)
        }
        for (index, wait) in waits.waits.enumerated() {
            guard case .call(let kind) = wait.kind, kind == .mutex || kind == .rwlock else { continue }
            let key = key(kind, wait.object, wait.thread)
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(index)
        }
        var releases: [Key: [Int]] = [:]
        for (index, wake) in waits.wakes.enumerated() {
            guard let kind = wake.kind, kind == .mutex || kind == .rwlock else { continue }
            releases[key(kind, wake.object, wake.thread), default: []].append(index)
        }
        let unsorted = order.map { LockRows.row($0, members[$0] ?? [], releases[$0] ?? [], waits) }
        rows = unsorted.enumerated().sorted { ($1.element.waited, $0.offset) < ($0.element.waited, $1.offset) }
            .map(\.element)
    }

    private static func row(_ key: Key, _ members: [Int], _ releases: [Int], _ waits: Waits) -> Row {
        var row = Row(
            kind: key.kind, object: key.object, thread: waits.waits[members[0]].thread,
            convoy: longestConvoy(members.map { waits.waits[$0] }))
        for wait in members {
            row.waits += 1
            row.waited &+= waits.waits[wait].time
        }
        var holders: [HolderKey: Holder] = [:]
        for wake in releases.lazy.map({ waits.wakes[$0] }) {
            row.calls += 1
            guard let held = wake.held else {
                row.unknown += 1
                continue
            }
            row.held &+= held
            row.longest = max(row.longest, held)
            let key = HolderKey(thread: wake.thread, path: wake.path)
            var holder = holders[key] ?? Holder(thread: wake.thread, path: wake.path)
            holder.calls += 1
            holder.total &+= held
            holder.longest = max(holder.longest, held)
            holders[key] = holder
        }
        row.holders = holders.values.sorted { ($1.total, $0.thread, $0.path) < ($0.total, $1.thread, $1.path) }
        return row
    }

    /// - Parameter waits: in the order of their beginnings, one at least.
    private static func longestConvoy(_ waits: [Wait]) -> Convoy {
        var longest: Convoy?
        var first = 0
        var end: UInt64 = 0
        func close(_ last: Int) {
            let members = waits[first..<last]
            if let longest, longest.end - longest.begin >= end - members[first].begin { return }
            longest = Convoy(
                begin: members[first].begin, end: end, waits: UInt64(members.count),
                threads: Set(members.map(\.thread)).count, most: most(members))
        }
        for (index, wait) in waits.enumerated() {
            if index > first, wait.begin > end {
                close(index)
                first = index
            }
            end = index == first ? wait.end : max(end, wait.end)
        }
        close(waits.count)
        return longest ?? Convoy(begin: 0, end: 0, waits: 0, threads: 0, most: 0)
    }

    private static func most(_ waits: ArraySlice<Wait>) -> Int {
        Waits.most(waits.map { ($0.begin, $0.end) })
    }
}
