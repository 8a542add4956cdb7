/// What the best-known viewer of a format can take, and what a file of that format comes to.
public struct ViewerLimit: Sendable {
    var viewer: StaticString
    /// The number of levels of calls that it nests correctly.
    var depth: UInt32
    /// The number of calls beyond which it becomes slow or gives up.
    var calls: UInt64
    /// The size of a file, in bytes and not compressed, beyond which it does.
    var bytes: UInt64
    /// The bytes that a call takes in the file besides names.
    var callBytes: UInt64
    /// How often the file has a call's name.
    var namesPerCall: UInt64
}
