extension Double {
    /// The number in JSON; null for infinity and NaN, which JSON lacks.
    public var json: String { isFinite ? "\(self)" : "null" }
}
