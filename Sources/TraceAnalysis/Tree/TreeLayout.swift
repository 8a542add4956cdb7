/// How a call tree is laid out.
public struct TreeLayout: Sendable {
    public enum Order: Sendable {
        /// As things happened.
        case time
        /// Longest first.
        case cost
    }

    public var order = Order.time
    /// Equal neighbouring leaf calls become one line.
    public var folds = true

    public init() {}
}
