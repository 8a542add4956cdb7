internal import Glibc

/// Memory for one array in a hot loop. It grows by `realloc`, which moves large pieces by their addresses: no copy is made
/// of them, and what was not written yet takes no memory. Freed by hand.
struct GrowingMemory<Element: BitwiseCopyable> {
    private(set) var start: UnsafeMutablePointer<Element>
    /// Elements there is room for.
    private(set) var capacity: Int

    /// All bytes are 0.
    init(capacity: Int) {
        self.capacity = capacity
        start = GrowingMemory.bound(calloc(capacity, MemoryLayout<Element>.stride))
    }

    func free() { Glibc.free(start) }

    /// Makes room for `capacity` elements; what lies in those that are new is not known. The last ones may be cut off.
    mutating func resize(to capacity: Int) {
        start = GrowingMemory.bound(realloc(start, capacity * MemoryLayout<Element>.stride))
        self.capacity = capacity
    }

    /// Makes room for element `index`.
    @inline(__always)
    mutating func reserve(_ index: Int) {
        if index >= capacity { resize(to: max(index + 1, capacity * 2)) }
    }

    private static func bound(_ address: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Element> {
        guard let address else { fatalError("out of memory") }
        return address.bindMemory(to: Element.self, capacity: 1)
    }
}
