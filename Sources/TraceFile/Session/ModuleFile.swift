/// A file that processes may map.
public struct ModuleFile: Sendable {
    public var path: String
    /// The file's build id; empty when it has none.
    public var buildID: [UInt8]

    public init(path: String, buildID: [UInt8]) {
        self.path = path
        self.buildID = buildID
    }
}
