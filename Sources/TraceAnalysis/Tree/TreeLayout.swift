/// How a call tree is laid out.
public struct TreeLayout: Sendable {
    public enum Order: Sendable {
        /// In the order in which things happened.
        case time
        /// The longest first.
        case cost
    }

    public var order = Order.time
    /// Whether neighbouring leaf calls that repeat, alone or by turns, become one line for each function.
    public var folds = true

    public init() {}
}
