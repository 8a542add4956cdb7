/// What is known of the registers and the frame of a function between two of its instructions.
struct FrameState {
    /// A value that came in and how many of its low bytes are there.
    struct Copy: Equatable {
        var origin: HookApproach.Origin
        var size: Int

        /// Where it came in.
        var location: ArgumentLocation {
            switch origin {
            case .register(let number): .value([.register(UInt8(number))])
            case .memory(let offset): .memory([.register(7), .add(Int64(offset))])
            }
        }
    }

    enum Value: Equatable {
        case copy(Copy)
        /// The stack pointer at the function's beginning, plus this.
        case frame(Int)
        /// What the function was not called with.
        case constant
        case unknown

        var frame: Int? { if case .frame(let offset) = self { offset } else { nil } }
    }

    /// By the number that instructions have.
    private(set) var general: [Value] = (0..<16).map { number in
        number == 4 ? .frame(0) : .copy(Copy(origin: .register(FrameState.dwarfNumbers[number]), size: 8))
    }
    private var vector: [Value] = (0..<16).map { .copy(Copy(origin: .register(17 + $0), size: 16)) }
    private var floating: [Value] = []
    /// What was stored in the frame, by offset from the stack pointer at the function's beginning.
    private(set) var slots: [Int: (value: Value, size: Int)] = [:]

    /// What instructions have taken from where it came in.
    private(set) var reads: Set<HookApproach.Origin> = []

    static let dwarfNumbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]

    /// Where a stack pointer that was rounded down is counted from, because nobody knows how far it is from where it was.
    static let aligned = 1 << 40

    /// What is known where two ways meet.
    func joined(with other: FrameState) -> FrameState {
        var result = self
        for index in 0..<16 {
            if general[index] != other.general[index] { result.general[index] = .unknown }
            if vector[index] != other.vector[index] { result.vector[index] = .unknown }
        }
        if floating != other.floating { result.floating = [] }
        result.reads.formUnion(other.reads)
        for (offset, slot) in other.slots where slots[offset] == nil { result.slots[offset] = (.unknown, slot.size) }
        for (offset, slot) in slots {
            let theirs = other.slots[offset]
            if theirs?.value != slot.value || theirs?.size != slot.size {
                result.slots[offset] = (.unknown, max(slot.size, theirs?.size ?? 0))
            }
        }
        return result
    }

    /// Whether a function that is called may know where the frame is.
    var hasGivenAddresses: Bool {
        func isFrame(_ value: Value) -> Bool { if case .frame = value { true } else { false } }
        return [0, 1, 2, 6, 7, 8, 9, 10, 11].contains { isFrame(general[$0]) }
            || slots.values.contains { isFrame($0.value) }
    }

    mutating func forgetWhatCallsChange() {
        for number in [0, 1, 2, 6, 7, 8, 9, 10, 11] { general[number] = .unknown }
        vector = vector.map { _ in .unknown }
        floating = []
    }

    /// Whether something was stored in these bytes of the frame.
    func isTouched(_ slot: Int, _ size: Int) -> Bool {
        slots.contains { $0.key < slot + size && slot < $0.key + $0.value.size }
    }

    /// Forgets what a function that is called may change: things that begin where it has been given an address, or above. What the
    /// compiler has put aside below is part of none.
    mutating func forgetWhatIsGiven() {
        var lowest = Int.max
        for value in general + slots.values.map(\.value) {
            if case .frame(let offset) = value, offset != general[4].frame, offset != general[5].frame {
                lowest = min(lowest, offset)
            }
        }
        for offset in slots.keys where offset >= lowest { slots[offset]!.value = .unknown }
    }

    // MARK: Instructions

    typealias Store = (slot: Int, value: Value)

    /// Returns what was moved into the frame, if something was; nil: what follows cannot be known.
    mutating func execute(_ instruction: MoveDecoder.Instruction) -> Store?? {
        switch instruction {
        case .nothing: return .some(nil)
        case .call, .other, .jump, .leave: return nil
        case .push(let number):
            guard case .frame(let offset) = general[4] else { return nil }
            general[4] = .frame(offset - 8)
            store(number.map { general[$0] } ?? .constant, at: offset - 8, size: 8)
            return .some(nil)
        case .pop(let number):
            guard case .frame(let offset) = general[4], number != 4 else { return nil }
            general[number] = slots[offset].flatMap { $0.size == 8 ? $0.value : nil } ?? .unknown
            general[4] = .frame(offset + 8)
            return .some(nil)
        case .moveStack(let bytes):
            guard case .frame(let offset) = general[4] else { return nil }
            general[4] = .frame(offset + bytes)
            return .some(nil)
        case .alignStack:
            guard case .frame(let offset) = general[4], offset > -Self.aligned / 2 else { return nil }
            general[4] = .frame(-Self.aligned)
            return .some(nil)
        case .move(let to, let from, let size, let extent):
            note(from)
            let value = read(from, size)
            return write(limited(value, size), to, size: max(size, extent))
        case .address(let to, let memory):
            if let slot = slot(memory), slot > 0 { reads.insert(.memory(slot)) }
            if to == 4 {
                guard let slot = slot(memory) else { return nil }
                general[4] = .frame(slot)
                return .some(nil)
            }
            general[to] = slot(memory).map { .frame($0) } ?? .unknown
            return .some(nil)
        case .constant(let operand, let size): return write(.constant, operand, size: size)
        case .change(let operands):
            for operand in operands {
                guard write(.unknown, operand.operand, size: operand.size) != nil else { return nil }
            }
            return .some(nil)
        case .loadFloating(let memory, let size):
            floating.append(read(.memory(memory), size))
            return .some(nil)
        case .storeFloating(let memory, let size):
            return write(floating.popLast() ?? .unknown, .memory(memory), size: size)
        }
    }

    /// Notes that the operand is read, or where it is.
    mutating func note(_ operand: MoveDecoder.Operand) {
        var values: [Value] = []
        switch operand {
        case .general(let number): values = [general[number]]
        case .vector(let number): values = [vector[number]]
        case .memory(let memory): values = [memory.base, memory.index].compactMap { $0.map { general[$0] } }
        }
        for case .copy(let copy) in values { reads.insert(copy.origin) }
        if case .memory(let memory) = operand, let slot = slot(memory), slot > 0 { reads.insert(.memory(slot)) }
    }

    private func limited(_ value: Value, _ size: Int) -> Value {
        switch value {
        case .copy(let copy): .copy(Copy(origin: copy.origin, size: min(copy.size, size)))
        case .frame where size < 8: .unknown
        default: value
        }
    }

    /// The offset of an operand in the frame; nil when it is not known to be there.
    private func slot(_ memory: MoveDecoder.Memory) -> Int? {
        guard let base = memory.base, memory.index == nil, case .frame(let offset) = general[base] else { return nil }
        return offset + memory.displacement
    }

    private func read(_ operand: MoveDecoder.Operand, _ size: Int) -> Value {
        switch operand {
        case .general(let number): return general[number]
        case .vector(let number): return vector[number]
        case .memory(let memory):
            guard let slot = slot(memory) else { return .unknown }
            if let known = slots[slot] { return known.size >= size ? known.value : .unknown }
            return slot > 0 && !isTouched(slot, size) ? .copy(Copy(origin: .memory(slot), size: size)) : .unknown
        }
    }

    private mutating func write(_ value: Value, _ operand: MoveDecoder.Operand, size: Int) -> Store?? {
        switch operand {
        case .general(let number):
            if number == 4 {
                guard case .frame = value else { return nil }
            }
            general[number] = value
        case .vector(let number): vector[number] = value
        case .memory(let memory):
            guard let slot = slot(memory) else {
                // The address sanitizer notes there what of the frame may be used, far from any stack. A store to anywhere
                // else might be one to the frame.
                return memory.isVariable || memory.displacement == Self.sanitizerNotes ? .some(nil) : nil
            }
            store(value, at: slot, size: size)
            return (slot, value)
        }
        return .some(nil)
    }

    private static let sanitizerNotes = 0x7fff_8000

    private mutating func store(_ value: Value, at slot: Int, size: Int) {
        for other in slots.keys where other != slot && other < slot + size {
            if slot < other + slots[other]!.size { slots[other]!.value = .unknown }
        }
        // What was stored there before may go on behind it.
        let before = slots[slot]?.size ?? 0
        slots[slot] = (value, size)
        if before > size, slots[slot + size] == nil { slots[slot + size] = (.unknown, before - size) }
    }
}
