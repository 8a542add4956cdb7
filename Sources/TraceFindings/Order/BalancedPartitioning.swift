internal import Glibc

/// Orders functions so that those that the same runs call in the same part of their start lie together.
///
/// Recursive balanced bisection (Dhulipala et al., Compressing Graphs and Indexes with Recursive Graph Bisection, 2016), with the
/// beginnings of each run as utility nodes, each twice as long as the one before (Hoag et al., Optimizing Function Layout for
/// Mobile Applications, 2022).
struct BalancedPartitioning {
    private static let rounds = 40
    /// Every so many exchanges one is left out, by chance, so that two halves do not swap back and forth.
    private static let skips: UInt64 = 10

    /// The utility nodes of each function.
    private var utilities: [[Int]]
    private var utilityCount = 0
    private var random: UInt64 = 0x9e37_79b9_7f4a_7c15

    /// - Parameters:
    ///   - runs: for each run, the functions that it called, the first one first, as numbers below `count`.
    ///   - count: the number of functions.
    init(runs: [[Int]], count: Int) {
        utilities = [[Int]](repeating: [], count: count)
        for run in runs {
            // Node k holds the first 2^k functions. The whole run is the last node.
            var nodes = 1
            while 1 << (nodes - 1) < run.count { nodes += 1 }
            for (position, function) in run.enumerated() {
                let first = (0..<nodes).first { position < 1 << $0 } ?? nodes - 1
                utilities[function] += (first..<nodes).map { utilityCount + $0 }
            }
            utilityCount += nodes
        }
    }

    /// The functions in their new order.
    ///
    /// - Parameter functions: in an order that makes a good start.
    /// - Complexity: O(n log n) in the number of functions, times runs.
    mutating func order(_ functions: [Int]) -> [Int] {
        guard functions.count > 2 else { return functions }
        let middle = (functions.count + 1) / 2
        var (left, right) = (Array(functions[..<middle]), Array(functions[middle...]))
        for _ in 0..<BalancedPartitioning.rounds where !exchange(&left, &right) { break }
        return order(left) + order(right)
    }

    /// Moves functions that gain most to the other half, in pairs.
    ///
    /// - Returns: whether any was moved.
    private mutating func exchange(_ left: inout [Int], _ right: inout [Int]) -> Bool {
        var (lefts, rights) = ([Int](repeating: 0, count: utilityCount), [Int](repeating: 0, count: utilityCount))
        for function in left { for node in utilities[function] { lefts[node] += 1 } }
        for function in right { for node in utilities[function] { rights[node] += 1 } }
        let outs = BalancedPartitioning.gains(from: lefts, to: rights)
        let backs = BalancedPartitioning.gains(from: rights, to: lefts)
        // Of equal gains, one half has its first function first and the other its last. Otherwise halves that are alike would
        // exchange like for like.
        func sorted(_ half: [Int], _ gains: [Double], _ sign: Int) -> [(place: Int, gain: Double)] {
            half.indices.map { place in (place, utilities[half[place]].reduce(0) { $0 + gains[$1] }) }
                .sorted { ($1.gain, sign * $0.place) < ($0.gain, sign * $1.place) }
        }
        var isChanged = false
        for (out, back) in zip(sorted(left, outs, 1), sorted(right, backs, -1)) {
            guard out.gain + back.gain > 0 else { break }
            if isSkipped() { continue }
            (left[out.place], right[back.place]) = (right[back.place], left[out.place])
            isChanged = true
        }
        return isChanged
    }

    /// What is gained for each node when one of its functions moves from one half to the other.
    private static func gains(from own: [Int], to other: [Int]) -> [Double] {
        zip(own, other).map { here, there in here == 0 ? 0 : cost(here, there) - cost(here - 1, there + 1) }
    }

    /// What it costs that a node's functions are in both halves: less, the more they are in one.
    private static func cost(_ left: Int, _ right: Int) -> Double {
        -(Double(left) * log2(Double(left) + 1) + Double(right) * log2(Double(right) + 1))
    }

    /// xorshift (Marsaglia 2003), so that equal recordings make equal orders.
    private mutating func isSkipped() -> Bool {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random % BalancedPartitioning.skips == 0
    }
}
