/// A thread's newest sampled stacks, as addresses of functions, outermost first.
///
/// Which of them counts is chosen as matrix's point stack is (WCPointStackMonitor, Tencent).
public struct StackRing {
    private var stacks: [[UInt64]] = []
    private var next = 0
    private let capacity: Int

    public init(capacity: Int) { self.capacity = max(capacity, 1) }

    public mutating func add(_ stack: [UInt64]) {
        if stacks.count < capacity {
            stacks.append(stack)
        } else {
            stacks[next] = stack
            next = (next + 1) % capacity
        }
    }

    /// The stack with the longest run of its innermost function among the samples, of several the newest; for each of its
    /// functions, how many samples had it.
    ///
    /// - Complexity: O(samples · depth).
    public func mostRepeated(name: (UInt64) -> String) -> RepeatedStack? {
        var best: (stack: [UInt64], run: Int)?, run = 0, last: UInt64?
        for index in stacks.indices {
            let stack = stacks[(next + index) % stacks.count]
            run = stack.last != nil && stack.last == last ? run + 1 : 1
            last = stack.last
            if !stack.isEmpty, run >= best?.run ?? 0 { best = (stack, run) }
        }
        guard let best else { return nil }
        let sets = stacks.map(Set.init)
        let frames = best.stack.map { function in
            RepeatedStack.Frame(name: name(function), count: sets.count { $0.contains(function) })
        }
        return RepeatedStack(frames: frames, count: best.run, samples: stacks.count)
    }
}
