/// The paths of a ``CallPathTree``, callers before callees. Each is put together when it is asked for.
public struct CallPaths: RandomAccessCollection {
    let store: CallPathStore

    public var startIndex: Int { 0 }
    public var endIndex: Int { store.count }

    public subscript(index: Int) -> CallPath {
        precondition(index >= 0 && index < store.count, "no such path")
        let node = store.node(index)
        return CallPath(
            function: node.pointee.function, parent: Int32(bitPattern: node.pointee.parent),
            end: Int32(bitPattern: node.pointee.link), depth: store.depth(index),
            sums: node.pointee.sums(store.rares), histogram: node.pointee.histogram)
    }
}
