/// A module by what it is, not by where it was mapped, so that it is the same in all processes of a session.
public struct ModuleIdentity: Hashable, Sendable {
    public var path: String
    public var buildID: [UInt8]

    public init(path: String, buildID: [UInt8]) {
        self.path = path
        self.buildID = buildID
    }
}
