extension Double {
    /// The change from `before` to this number, as a part of `before`; infinite when that is 0 and this is not.
    public func change(relativeTo before: Double) -> Double {
        let change = self - before
        if change == 0 { return 0 }
        return before == 0 ? (change > 0 ? .infinity : -.infinity) : change / before.magnitude
    }
}
