/// One open call of a chunk's path.
@frozen
public struct PathEntry {
    public let function: UInt64
    public let callSite: UInt64
    public let enterTicks: UInt64

    static var size: Int { MemoryLayout<PathEntry>.size }
}
