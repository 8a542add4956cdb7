extension Double {
    /// As JSON has it, which knows no infinity.
    public var json: String { isFinite ? "\(self)" : "null" }
}
