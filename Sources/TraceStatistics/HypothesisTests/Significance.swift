/// Tells which of many comparisons show a change, considering how many were made.
package enum Significance {
    /// S. Holm's procedure (Scandinavian Journal of Statistics 6, 1979) with weights: the chance that even one of the
    /// comparisons without a change is taken for one is at most `risk`.
    ///
    /// - Parameters:
    ///   - chances: nil where no comparison could be made.
    ///   - weights: how much each comparison matters. Not negative; must not depend on the direction or size of the
    ///     changes.
    /// - Complexity: O(n log n).
    package static func holm(_ chances: [Double?], weights: [Double], risk: Double) -> [Bool] {
        var found = [Bool](repeating: false, count: chances.count)
        let tested = chances.indices.filter { chances[$0] != nil && weights[$0] > 0 }
        var rest = tested.reduce(0) { $0 + weights[$1] }
        let order = tested.sorted { (chances[$0]! / weights[$0], $0) < (chances[$1]! / weights[$1], $1) }
        for index in order {
            guard chances[index]! <= risk * weights[index] / rest else { break }
            found[index] = true
            rest -= weights[index]
        }
        return found
    }
}
