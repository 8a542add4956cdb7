/// How a build went.
public struct BuildResult: Sendable {
    /// The command's own exit status.
    public var status: Int32
    /// What to tell the user.
    public var lines: [String]
}
