/// Small dense numbers for the addresses that functions were called at.
///
/// Number 0 is none. The memory is freed by hand, because this is passed about in hot loops.
struct FunctionKeys {
    struct Key: BitwiseCopyable, Equatable {
        var address: UInt64
        /// Tells apart what an address means at different times.
        var epoch: UInt32
    }

    private var keys = GrowingMemory<Key>(capacity: 64)
    private(set) var count = 1
    /// Numbers by hash, with linear probing; 0 is empty.
    private var slots = GrowingMemory<UInt32>(capacity: 128)
    /// What was asked for last, by a few bits of the address. It will most likely be asked for again.
    private let recent = GrowingMemory<Recent>(capacity: 1 << recentBits)

    private struct Recent: BitwiseCopyable {
        var address: UInt64
        var epoch: UInt32
        var number: UInt32
    }

    private static let recentBits = 10

    init() { keys.start.initialize(to: Key(address: .max, epoch: .max)) }

    func free() {
        keys.free()
        slots.free()
        recent.free()
    }

    @inline(__always)
    subscript(number: UInt32) -> UnsafeMutablePointer<Key> { keys.start + Int(number) }

    /// The number of `address` as it is meant in `epoch`.
    ///
    /// - Complexity: O(1), amortised.
    @inline(__always)
    mutating func number(_ address: UInt64, _ epoch: UInt32) -> UInt32 {
        // Functions begin at multiples of 16.
        let place = (address &>> 4 ^ address &>> 14) & (1 &<< UInt64(FunctionKeys.recentBits) &- 1)
        let known = recent.start + Int(truncatingIfNeeded: place)
        if known.pointee.address == address, known.pointee.epoch == epoch, known.pointee.number != 0 {
            return known.pointee.number
        }
        let number = lookUp(address, epoch)
        known.pointee = Recent(address: address, epoch: epoch, number: number)
        return number
    }

    @inline(never)
    private mutating func lookUp(_ address: UInt64, _ epoch: UInt32) -> UInt32 {
        let key = Key(address: address, epoch: epoch)
        var slot = self.slot(key)
        while slots.start[slot] != 0 {
            let number = slots.start[slot]
            if keys.start[Int(number)] == key { return number }
            slot = (slot &+ 1) & (slots.capacity &- 1)
        }
        keys.reserve(count)
        (keys.start + count).initialize(to: key)
        slots.start[slot] = UInt32(count)
        count += 1
        if count * 2 > slots.capacity { growSlots() }
        return UInt32(count - 1)
    }

    private func slot(_ key: Key) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
        let hash = (key.address ^ UInt64(key.epoch) << 48) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: hash >> 32) & (slots.capacity - 1)
    }

    private mutating func growSlots() {
        let capacity = slots.capacity * 2
        slots.free()
        slots = GrowingMemory(capacity: capacity)
        for number in 1..<count {
            var slot = self.slot(keys.start[number])
            while slots.start[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            slots.start[slot] = UInt32(number)
        }
    }
}
