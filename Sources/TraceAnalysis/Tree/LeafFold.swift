internal import TraceFile

/// Folds neighbouring leaf calls that repeat. Calls of one function, `a a a`, become one line. Functions that are called by
/// turns, `a b a b`, become a line each, as long as a turn is of at most ``longestTurn`` functions; how often each is called in
/// a turn may vary, so `a b b a b` are the same two lines.
///
/// Every call is counted on a line of its function, and lines stay in the order of their first calls.
struct LeafFold {
    /// The most functions of a turn; a function that is called twice in it, with others between, counts twice.
    static let longestTurn = 4

    /// Lines whose place or sums are not yet settled: neighbours differ in their functions. Once there are turns, these are
    /// the lines of one turn.
    private var lines: [TreeCall] = []
    /// The line of the turn that the latest call belongs to; nil while there are no turns.
    private var current: Int?
    private let findsTurns: Bool
    /// Whether it is known what calls did with memory, and, if so, what those of each line did.
    var tellsMemory = false
    private var memories: [MemorySums] = []

    /// - Parameter findsTurns: false where calls are not in the order in which they were made.
    init(findsTurns: Bool) { self.findsTurns = findsTurns }

    /// Adds a call, and shows lines to which nothing will be added any more.
    ///
    /// - Complexity: O(1).
    mutating func add<Visitor: TreeVisitor>(
        _ leaf: TreeCall, _ memory: MemorySums, showingTo visitor: inout Visitor
    ) {
        if let line = line(for: leaf) {
            lines[line].fold(leaf)
            if tellsMemory { memories[line].add(memory) }
            return
        }
        if current != nil { finish(showingTo: &visitor) }
        lines.append(leaf)
        if tellsMemory { memories.append(memory) }
        if findsTurns { findTurns(showingTo: &visitor) }
        if current == nil, lines.count == (findsTurns ? 2 * LeafFold.longestTurn : 2) { show(1, to: &visitor) }
    }

    /// Shows all lines: the next call is no neighbour of theirs.
    mutating func finish<Visitor: TreeVisitor>(showingTo visitor: inout Visitor) {
        if !lines.isEmpty { show(lines.count, to: &visitor) }
        current = nil
    }

    /// Shows the first lines.
    private mutating func show<Visitor: TreeVisitor>(_ count: Int, to visitor: inout Visitor) {
        for index in 0..<count where visitor.wantsMore {
            if tellsMemory { visitor.tell(memories[index]) }
            visitor.enter(lines[index])
            visitor.leave(lines[index])
        }
        lines.removeFirst(count)
        if tellsMemory { memories.removeFirst(count) }
    }

    /// The line that goes on with `leaf`.
    private mutating func line(for leaf: TreeCall) -> Int? {
        guard let current else { return lines.last.map { $0.continues(with: leaf) } == true ? lines.count - 1 : nil }
        if lines[current].continues(with: leaf) { return current }
        let next = current + 1 == lines.count ? 0 : current + 1
        guard lines[next].continues(with: leaf) else { return nil }
        self.current = next
        return next
    }

    /// Looks whether the latest lines are two equal turns, and makes them one.
    private mutating func findTurns<Visitor: TreeVisitor>(showingTo visitor: inout Visitor) {
        for length in 2...LeafFold.longestTurn where lines.count >= 2 * length {
            let (first, second) = (lines.count - 2 * length, lines.count - length)
            guard (0..<length).allSatisfy({ lines[first + $0].continues(with: lines[second + $0]) }) else { continue }
            for offset in 0..<length {
                lines[first + offset].fold(lines[second + offset])
                lines[first + offset].isByTurns = true
                if tellsMemory { memories[first + offset].add(memories[second + offset]) }
            }
            lines.removeLast(length)
            if tellsMemory { memories.removeLast(length) }
            show(first, to: &visitor)
            current = length - 1
            return
        }
    }
}

extension TreeCall {
    fileprivate func continues(with other: TreeCall) -> Bool {
        function == other.function && depth == other.depth && arguments.equals(other.arguments)
            && result.equals(other.result)
    }

    fileprivate mutating func fold(_ other: TreeCall) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        suspended &+= other.suspended
        if let times = other.offCPU { offCPU?.add(times) }
        hidden.add(other.hidden)
        dropped.add(other.dropped)
        if callSite != other.callSite { callSite = 0 }
    }
}
