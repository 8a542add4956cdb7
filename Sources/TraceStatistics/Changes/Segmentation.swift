/// The best divisions of a series into 1, 2, 3 … parts: those with the least sum of squared distances from the parts' means.
///
/// The recursion is R. Bellman's (Communications of the ACM 4, 1961): the best division of the first n values into k parts is
/// one of the first m into k - 1, and a last part. It finds what dividing in two again and again does not: a step and the one
/// back from it.
struct Segmentation {
    /// By the number of steps: the sum of squared distances.
    private(set) var costs: [Double]
    private let count: Int
    /// By the number of steps, less one, and by where a part ends: where it begins.
    private var starts: [[Int32]] = []

    /// - Parameters:
    ///   - values: finite, and at least `least` of them.
    ///   - least: the fewest values of a part.
    /// - Complexity: O(n² · most) time, O(n · most) memory.
    init(_ values: [Double], most: Int, least: Int) {
        let n = values.count
        let mean = values.reduce(0, +) / Double(n)
        var sums = [0.0], squares = [0.0]
        for value in values {
            sums.append(sums.last! + (value - mean))
            squares.append(squares.last! + (value - mean) * (value - mean))
        }
        let inverse = [0.0] + (1...n).map { 1 / Double($0) }
        var best = [Double](repeating: .infinity, count: n + 1)
        for end in least...n { best[end] = squares[end] - sums[end] * sums[end] * inverse[end] }
        count = n
        costs = [max(0, best[n])]
        for steps in 1..<(max(1, most) + 1) where steps <= most && (steps + 1) * least <= n {
            var next = [Double](repeating: .infinity, count: n + 1)
            var from = [Int32](repeating: 0, count: n + 1)
            for end in ((steps + 1) * least)...n {
                var cost = Double.infinity, start = 0
                for middle in (steps * least)...(end - least) {
                    let sum = sums[end] - sums[middle]
                    let whole = best[middle] + squares[end] - squares[middle] - sum * sum * inverse[end - middle]
                    if whole < cost { (cost, start) = (whole, middle) }
                }
                next[end] = cost
                from[end] = Int32(start)
            }
            best = next
            starts.append(from)
            costs.append(max(0, best[n]))
        }
    }

    /// The bounds of the parts of the best division with `steps` steps: 0, the steps, and the number of values.
    func bounds(_ steps: Int) -> [Int] {
        var bounds = [count]
        for step in stride(from: steps, to: 0, by: -1) { bounds.append(Int(starts[step - 1][bounds.last!])) }
        return [0] + bounds.dropFirst().reversed() + [count]
    }
}
