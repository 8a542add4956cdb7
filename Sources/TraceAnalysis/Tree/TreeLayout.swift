/// How a call tree is laid out.
public struct TreeLayout: Sendable {
    public enum Order: Sendable {
        /// In the order in which things happened.
        case time
        /// The longest first.
        case cost
    }

    public var order = Order.time
    /// Whether equal neighbouring leaf calls become one line.
    public var folds = true

    public init() {}
}
