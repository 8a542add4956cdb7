internal import TraceWatch

/// A process's memory, and a copy of a part of a thread's stack, which stands in for it until it is forgotten.
final class StackCopies {
    private let memory: ProcessMemory
    private var start: UInt64 = 0
    private var words: [UInt64] = []

    init(_ memory: ProcessMemory) { self.memory = memory }

    /// Copies what lies from a stack pointer on.
    func copy(from pointer: UInt64) {
        start = pointer & ~7
        words = memory.words(from: start, most: 1 << 15)
    }

    func forget() { words = [] }

    func load(_ address: UInt64) -> UInt64? {
        let offset = address &- start
        if offset % 8 == 0, offset / 8 < UInt64(words.count) { return words[Int(offset / 8)] }
        return memory.load(address)
    }
}
