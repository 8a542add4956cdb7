/// A place in a series from which on its values are others.
public struct ChangePoint: Sendable, Equatable {
    /// The first value of the new ones.
    public let index: Int
    /// Medians of the values between the neighbouring change points, before and after.
    public let before: Double
    public let after: Double
    /// The chance to find such a change where there is none: at least two of three tests are as sure, and it counts how many
    /// places were looked at. 0 where nothing is owed to chance.
    public let chance: Double

    public init(index: Int, before: Double, after: Double, chance: Double) {
        self.index = index
        self.before = before
        self.after = after
        self.chance = chance
    }

    public var change: Double { after - before }

    /// The change as a part of what was before; infinite when that was 0.
    public var relativeChange: Double {
        if change == 0 { return 0 }
        return before == 0 ? (change > 0 ? .infinity : -.infinity) : change / abs(before)
    }
}
