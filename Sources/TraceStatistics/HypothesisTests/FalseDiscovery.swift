/// Which of many findings are kept so that few of those kept are false: the procedure of Y. Benjamini and Y. Hochberg (Journal of
/// the Royal Statistical Society B 57, 1995).
public enum FalseDiscovery {
    /// - Parameters:
    ///   - chances: of each finding, where nothing has changed; nil where nothing was tested.
    ///   - rate: the share of false ones among those kept, on average. Where nothing at all has changed, it is the chance that
    ///     anything is kept.
    /// - Complexity: O(n log n).
    public static func kept(_ chances: [Double?], rate: Double) -> [Bool] {
        let tested = chances.indices.filter { chances[$0] != nil }.sorted { chances[$0]! < chances[$1]! }
        var kept = [Bool](repeating: false, count: chances.count)
        let last = tested.indices.last { chances[tested[$0]]! <= rate * Double($0 + 1) / Double(tested.count) }
        guard let last else { return kept }
        for place in 0...last { kept[tested[place]] = true }
        return kept
    }
}
