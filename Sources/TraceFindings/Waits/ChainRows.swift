/// The parts of a chain as people read them: what one thread did in between is told with what took longest, so that a call that lost
/// its CPU a hundred times is one row, and so is a hundred naps in a loop. Times in ns.
public struct ChainRows {
    /// What a part of the chain was.
    public enum Subject: Hashable, Sendable {
        /// A thread ran, or wanted a CPU.
        case ran
        case waited(What)
        /// Where the chain comes from another thread, or ends: what the link says.
        case other
    }

    /// Waits for one thing at one place.
    public struct What: Hashable, Sendable {
        public var kind: Wait.Kind
        public var object: UInt64
        public var path: Int32
    }

    public struct Row: Sendable {
        public var thread: Int
        public var begin: UInt64
        public var end: UInt64
        /// What most of it was.
        public internal(set) var subject: Subject
        /// Index of the first link that is of ``subject``.
        public internal(set) var link: Int
        /// Of all subjects, how many links there are, and how long they were.
        public internal(set) var sums: [Subject: (count: Int, time: UInt64)]
        /// How often the thread wanted a CPU and had none, and how long.
        public internal(set) var wantedCPU: (count: Int, time: UInt64) = (0, 0)
        /// The function that ran longest; nil where none ran.
        public internal(set) var longest: UInt32?

        fileprivate var functions: [UInt32: UInt64]
    }

    /// In the order of time, without gaps.
    public private(set) var rows: [Row] = []

    /// What is shorter than one part in so many of the whole gets no row of its own between others of its thread.
    private static let leastShare: UInt64 = 100

    /// - Complexity: O(n) in the number of links, and of functions in them.
    public init(_ chain: Chain, _ times: ChainTimes, _ waits: Waits) {
        let least = (chain.end &- chain.begin) / ChainRows.leastShare
        // Short ones in a row.
        var short: Row?
        for (index, link) in chain.links.enumerated() {
            let row = ChainRows.row(index, link, times.ran[index], waits)
            let isShort = link.end &- link.begin < least && row.subject != .other
            if let before = short, !isShort || before.thread != row.thread {
                if let last = rows.last, last.isLike(row), before.thread == row.thread {
                    rows[rows.count - 1].add(before)
                } else {
                    append(before)
                }
                short = nil
            }
            if !isShort { append(row) } else if short == nil { short = row } else { short?.add(row) }
        }
        if let short { append(short) }
        for index in rows.indices {
            rows[index].longest = rows[index].functions.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        }
    }

    private mutating func append(_ row: Row) {
        if let last = rows.last, last.isLike(row) { rows[rows.count - 1].add(row) } else { rows.append(row) }
    }

    private static func row(_ index: Int, _ link: Chain.Link, _ ran: [UInt32: UInt64], _ waits: Waits) -> Row {
        let time = link.end &- link.begin
        let subject: Subject =
            switch link.kind {
            case .ran: .ran
            case .waited(let wait): ChainRows.subject(waits.waits[wait])
            case .woken, .began, .unknown: .other
            }
        var row = Row(
            thread: link.thread, begin: link.begin, end: link.end, subject: subject, link: index,
            sums: [subject: (1, time)], functions: ran)
        if case .waited = link.kind, subject == .ran { row.wantedCPU = (1, time) }
        return row
    }

    private static func subject(_ wait: Wait) -> Subject {
        wait.kind == .cpu ? .ran : .waited(What(kind: wait.kind, object: wait.object, path: wait.path))
    }
}

extension ChainRows.Row {
    /// How long the thread had a CPU.
    public var ran: UInt64 { (sums[.ran]?.time ?? 0) &- wantedCPU.time }

    /// What the thread waited for beside the subject.
    public var others: (count: Int, time: UInt64) {
        sums.reduce(into: (0, 0)) { sum, entry in
            guard case .waited = entry.key, entry.key != subject else { return }
            sum = (sum.count + entry.value.count, sum.time &+ entry.value.time)
        }
    }

    fileprivate func isLike(_ other: ChainRows.Row) -> Bool {
        thread == other.thread && subject == other.subject && subject != .other
    }

    /// Adds what follows.
    fileprivate mutating func add(_ next: ChainRows.Row) {
        end = next.end
        for (subject, sum) in next.sums {
            let before = sums[subject, default: (0, 0)]
            sums[subject] = (before.count + sum.count, before.time &+ sum.time)
        }
        wantedCPU = (wantedCPU.count + next.wantedCPU.count, wantedCPU.time &+ next.wantedCPU.time)
        functions.merge(next.functions) { $0 &+ $1 }
        if sums[next.subject]!.time > sums[subject]!.time { (subject, link) = (next.subject, next.link) }
    }
}
