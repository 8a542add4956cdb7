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
    /// Whether calls tell what they did with memory, where that was recorded. All of a thread is then read for its tree, and of a
    /// long one twice, whatever stretch of time was asked for.
    public var tellsMemory = false

    public init() {}
}
