internal import Glibc

/// Memory for one array in a hot loop. It grows by `realloc`, which gives large pieces new addresses instead of copying
/// them. What was not written yet takes no memory. The owner frees it.
struct GrowingMemory<Element: BitwiseCopyable> {
    private(set) var start: UnsafeMutablePointer<Element>
    /// The number of elements that there is room for.
    private(set) var capacity: Int

    /// All bytes are 0.
    init(capacity: Int) {
        self.capacity = capacity
        start = GrowingMemory.bound(calloc(capacity, MemoryLayout<Element>.stride))
    }

    func free() { Glibc.free(start) }

    /// Changes the capacity. New elements have no known value; when the memory shrinks, the last elements are lost.
    mutating func resize(to capacity: Int) {
        start = GrowingMemory.bound(realloc(start, capacity * MemoryLayout<Element>.stride))
        self.capacity = capacity
    }

    /// Makes room for element `index`.
    @inline(__always)
    mutating func reserve(_ index: Int) {
        if index >= capacity { resize(to: max(index + 1, capacity * 2)) }
    }

    /// Gives the memory of the elements below `index` back to the system. What they hold is lost.
    func giveBack(below index: Int) {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        let first = (UInt(bitPattern: start) + page - 1) & ~(page - 1),
            end = UInt(bitPattern: start + index) & ~(page - 1)
        if first < end { madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED) }
    }

    private static func bound(_ address: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Element> {
        guard let address else { fatalError("out of memory") }
        return address.bindMemory(to: Element.self, capacity: 1)
    }
}
