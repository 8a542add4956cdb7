public import TraceFile

/// Tells which process of a session came from which.
public struct ProcessTree {
    /// How a process came to be.
    public enum Relation: Sendable {
        /// Its parent started it as a new program.
        case started
        case forked
        /// Its parent, which has the same process id, became this image.
        case replaced
    }

    public struct Node {
        public let process: TracedProcess
        public let relation: Relation
        /// Index of its parent; nil when that was not recorded.
        public fileprivate(set) var parent: Int?
        /// Indices of its children, in order of first appearance.
        public fileprivate(set) var children: [Int] = []
        public let calls: UInt64
        /// ns since the session's start.
        public let start: UInt64
        /// The ns from its first call to its end, or to the last moment known of it.
        public let duration: UInt64
    }

    /// The processes, in order of first appearance.
    public private(set) var nodes: [Node]
    /// Indices of the nodes without a parent.
    public private(set) var roots: [Int] = []

    /// - Complexity: O(n log n) in the number of processes, and O(chunks).
    public init(of session: Session) {
        let parents = Parents(session.processes)
        nodes = session.processes.indices.map { index in
            let process = session.processes[index]
            let (parent, relation) = parents.recorded(index)
            let start = process.startTicks > 0 ? process.startTicks : process.threads.map(\.firstTicks).min() ?? 0
            let end = process.threads.reduce(max(process.endTicks, start)) { max($0, $1.lastTicks()) }
            return Node(
                process: process, relation: relation, parent: parent,
                calls: process.threads.reduce(0) { $0 &+ $1.countCalls() }, start: session.clock.nanoseconds(at: start),
                duration: session.clock.nanoseconds(in: end &- start))
        }
        for (child, parent) in parents.late(nodes.map(\.parent)) { nodes[child].parent = parent }
        for index in nodes.indices {
            if let parent = nodes[index].parent { nodes[parent].children.append(index) } else { roots.append(index) }
        }
    }
}

extension TracedThread {
    fileprivate var firstTicks: UInt64 { chunks.first?.beginTicks ?? .max }
}

/// Finds parents among processes that are in order of their first calls.
private struct Parents {
    private let processes: [TracedProcess]
    /// Indices by process id. Several processes may have had the same id, one after the other.
    private var byPID: [UInt32: [Int]] = [:]
    private var byIndex: [UInt32: Int] = [:]

    init(_ processes: [TracedProcess]) {
        self.processes = processes
        for (index, process) in processes.enumerated() {
            byIndex[process.index] = index
            if !process.metadataIsLost { byPID[process.pid, default: []].append(index) }
        }
    }

    /// The parent of a process among those before it.
    func recorded(_ index: Int) -> (parent: Int?, ProcessTree.Relation) {
        let process = processes[index]
        if process.origin == .fork {
            let known = process.forkParent.flatMap { byIndex[$0.index] }
            return (known ?? last(process.parentPID, before: index), .forked)
        }
        if let former = last(process.pid, before: index), processes[former].end == .exec { return (former, .replaced) }
        return (process.metadataIsLost ? nil : last(process.parentPID, before: index), .started)
    }

    private func last(_ pid: UInt32, before index: Int) -> Int? { byPID[pid]?.last { $0 < index } }

    /// Parents for processes that have none yet, among the processes after them. A child may make its first call before
    /// its parent does.
    func late(_ parents: [Int?]) -> [(child: Int, parent: Int)] {
        var parents = parents
        var found: [(Int, Int)] = []
        for (index, process) in processes.enumerated() where parents[index] == nil && !process.metadataIsLost {
            guard let parent = byPID[process.parentPID]?.first(where: { $0 > index }) else { continue }
            // A process id that was used again must not make a circle.
            var above: Int? = parent
            while let next = above, next != index { above = parents[next] }
            if above == nil {
                parents[index] = parent
                found.append((index, parent))
            }
        }
        return found
    }
}
