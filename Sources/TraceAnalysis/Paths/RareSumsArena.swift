/// The rare sums of many paths. The memory is freed by hand.
struct RareSumsArena {
    private var memory = GrowingMemory<RareSums>(capacity: 4)
    private var used = 1

    /// Whether some path has sums here.
    var isUsed: Bool { used > 1 }

    func free() { memory.free() }

    subscript(number: UInt32) -> UnsafeMutablePointer<RareSums> { memory.start + Int(number) }

    /// Changes the rare sums of a path. Gives the path a number when it has none.
    mutating func change(_ number: inout UInt32, _ body: (UnsafeMutablePointer<RareSums>) -> Void) {
        if number == 0 {
            memory.reserve(used)
            (memory.start + used).initialize(to: RareSums())
            number = UInt32(used)
            used += 1
        }
        body(self[number])
    }

    /// A copy of the sums.
    func copy() -> RareSumsArena {
        var copy = RareSumsArena()
        copy.memory.resize(to: max(used, 4))
        copy.memory.start.update(from: memory.start, count: used)
        copy.used = used
        return copy
    }
}
