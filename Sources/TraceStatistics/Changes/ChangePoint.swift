/// A place in a series from which on its values are others.
public struct ChangePoint: Sendable, Equatable {
    /// The first value of the new ones.
    public let index: Int
    /// Medians of the values between the neighbouring change points, before and after.
    public let before: Double
    public let after: Double
    /// The chance to find such a change where there is none: what ``StepVote`` says of the values between the neighbouring change
    /// points, times the number of independent places that were looked at.
    public let chance: Double

    public init(index: Int, before: Double, after: Double, chance: Double) {
        self.index = index
        self.before = before
        self.after = after
        self.chance = chance
    }

    public var change: Double { after - before }

    /// The change as a part of what was before; infinite when that was 0.
    public var relativeChange: Double { after.change(relativeTo: before) }
}
