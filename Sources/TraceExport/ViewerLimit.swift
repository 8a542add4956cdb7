/// What the best-known viewer of a format can take.
public struct ViewerLimit: Sendable {
    var viewer: StaticString
    /// The number of levels of calls that it nests correctly.
    var depth: UInt32
    /// The number of calls beyond which it becomes slow or gives up.
    var calls: UInt64
}
