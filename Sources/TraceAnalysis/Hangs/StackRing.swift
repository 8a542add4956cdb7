/// A thread's newest sampled stacks, as addresses of functions, outermost first.
///
/// Which of them counts is chosen as matrix's point stack is (WCPointStackMonitor, Tencent).
public struct StackRing {
    private var stacks: [[UInt64]] = []
    /// For each, how many samples in a row had its innermost function.
    private var runs: [Int] = []
    private var next = 0
    private let capacity: Int

    public init(capacity: Int) { self.capacity = max(capacity, 1) }

    public mutating func add(_ stack: [UInt64]) {
        let last = stacks.isEmpty ? nil : (next + stacks.count - 1) % stacks.count
        let isSame = last.map { stacks[$0].last == stack.last && !stack.isEmpty } ?? false
        let run = isSame ? runs[last!] + 1 : 1
        if stacks.count < capacity {
            stacks.append(stack)
            runs.append(run)
        } else {
            stacks[next] = stack
            runs[next] = run
            next = (next + 1) % capacity
        }
    }

    /// The stack with the longest run of its innermost function, of several the newest; for each of its functions, how many
    /// samples had it.
    ///
    /// - Complexity: O(samples · depth).
    public func mostRepeated(name: (UInt64) -> String) -> RepeatedStack? {
        let order = stacks.indices.map { (next + $0) % stacks.count }
        var best: Int?
        for index in order where !stacks[index].isEmpty && runs[index] >= best.map({ runs[$0] }) ?? 0 { best = index }
        guard let best else { return nil }
        let sets = stacks.map(Set.init)
        let frames = stacks[best].map { function in
            RepeatedStack.Frame(name: name(function), count: sets.count { $0.contains(function) })
        }
        return RepeatedStack(frames: frames, count: runs[best], samples: stacks.count)
    }
}
