/// How many values tell as much as independent ones would. A machine that is slow for an hour makes many runs slow, but is one
/// observation.
enum IndependentShare {
    /// The number as a share of the values between `bounds`: (1 - r) / (1 + r), where r is the correlation of each value with the
    /// one before, both taken from the mean of their part.
    static func of(_ values: [Double], within bounds: [Int]) -> Double {
        var products = 0.0, squares = 0.0
        let count = bounds.last! - bounds[0]
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            let part = values[start..<end]
            let mean = part.reduce(0, +) / Double(part.count)
            for value in part { squares += (value - mean) * (value - mean) }
            for (a, b) in zip(part, part.dropFirst()) { products += (a - mean) * (b - mean) }
        }
        guard squares > 0, count >= 8 else { return 1 }
        // The estimate is too low by about 1 / n for each mean that was taken off.
        let correlation = min(max(products / squares + Double(bounds.count - 1) / Double(count), 0), 0.95)
        // Chance alone gives correlations of this size, once in twenty series.
        guard correlation > 2 / Double(count).squareRoot() else { return 1 }
        return (1 - correlation) / (1 + correlation)
    }
}
