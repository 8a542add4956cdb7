/// What the best-known viewer of a format can take.
public struct ViewerLimit: Sendable {
    var viewer: StaticString
    /// Levels of calls it nests rightly.
    var depth: UInt32
    /// Calls beyond which it becomes slow or gives up.
    var calls: UInt64
}
