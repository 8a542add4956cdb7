/// Gives places to the values that a function is called with, one after the other, as x86-64's calling convention does.
struct CallingConvention {
    /// The registers that are still free, by their numbers in DWARF.
    private var integers: ArraySlice<UInt8> = [5, 4, 1, 2, 8, 9]
    private var vectors: ArraySlice<UInt8> = [17, 18, 19, 20, 21, 22, 23, 24]
    /// Where the next value lies in the caller's frame, from the stack pointer at the function's first instruction.
    private var offset: Int64 = 8
    /// LLVM does not count a null pointer of C++ when it decides whether a value of several words still has registers.
    var countsNull = true
    private var hasPassedNull = false
    /// From here on, no place is known.
    private(set) var isLost = false
    /// - Parameter result: of the function; its address may be the first thing that is passed.
    init(result: ArgumentType?, hasResult: Bool) {
        guard hasResult else { return }
        switch result?.passing {
        case .memory, .reference: _ = integers.popFirst()
        case .registers, .x87, .nothing: break
        case nil: isLost = true
        }
    }

    /// - Parameter isFirstTaken: whether the address where the result goes is the first thing that is passed.
    init(isFirstTaken: Bool) {
        if isFirstTaken { _ = integers.popFirst() }
    }

    private init(integers: ArraySlice<UInt8>, vectors: ArraySlice<UInt8>) {
        (self.integers, self.vectors) = (integers, vectors)
    }

    mutating func lose() { isLost = true }

    /// The place of the next value; nil when it is not known.
    mutating func next(_ type: ArgumentType?) -> ArgumentLocation? {
        guard !isLost, let type, let passing = type.passing else {
            isLost = true
            return nil
        }
        if type.isNull { hasPassedNull = true }
        switch passing {
        case .nothing: return .gone
        case .reference:
            return address().map { .memory($0) }
        case .memory(let alignment): return memory(size: type.size, alignment: alignment)
        case .x87: return memory(size: 16, alignment: 16)
        case .registers(let classes):
            let general = classes.count { $0 == .integer }, vector = classes.count { $0 == .vector }
            if general > integers.count || vector > vectors.count {
                if hasPassedNull, !countsNull {
                    isLost = true
                    return nil
                }
                return memory(size: type.size, alignment: type.size == 16 && type.isBase && general == 2 ? 16 : 8)
            }
            return words(classes, size: type.size)
        }
    }

    private mutating func words(_ classes: [ValueClass], size: Int) -> ArgumentLocation {
        let pieces = classes.enumerated().map { index, one in
            let bytes = min(8, size - 8 * index)
            return ArgumentPiece(size: bytes, location: word(one, size: bytes))
        }
        return pieces.count == 1 ? pieces[0].location : .pieces(pieces)
    }

    private mutating func word(_ one: ValueClass, size: Int) -> ArgumentLocation {
        let register: UInt8?
        switch one {
        case .integer: register = integers.popFirst()
        case .vector: register = vectors.popFirst()
        case .none, .upperVector, .x87: return .gone
        }
        return register.map { .value([.register($0)]) } ?? memory(size: size, alignment: 8)
    }

    private mutating func address() -> [ArgumentStep]? {
        if let register = integers.popFirst() { return [.register(register)] }
        guard case .memory(let steps) = memory(size: 8, alignment: 8) else { return nil }
        return steps + [.load(8)]
    }

    private mutating func memory(size: Int, alignment: Int) -> ArgumentLocation {
        let alignment = Int64(max(alignment, 8))
        offset = (offset - 8 + alignment - 1) / alignment * alignment + 8
        defer { offset += Int64((size + 7) / 8 * 8) }
        return .memory([.register(7), .add(offset)])
    }

    /// Where a function leaves what it returns, when it returns; nil when that is not known.
    static func result(_ type: ArgumentType) -> ArgumentLocation? {
        switch type.passing {
        case .memory, .reference: return .memory([.register(0)])
        case .registers(let classes):
            var convention = CallingConvention(integers: [0, 1], vectors: [17, 18])
            return convention.words(classes, size: type.size)
        case .x87, .nothing, nil: return nil
        }
    }
}
