/// Follows the machine code of a function from its beginning to its call of the enter hook, and a bit further, to know
/// where the values are that it was called with.
///
/// Debug information does not always say. clang describes an argument that lives in the frame as if it were there from the
/// first instruction on, although it is stored there only behind the hook. gcc describes a small integer as gone although
/// a register holds it. The code itself shows it: before the call of the hook, it moves each value to where the value is
/// kept during the call, and behind the call it takes the value from there.
///
/// Only moves are understood, and only on x86-64. At anything else that might matter this ends, and what it has not seen
/// counts as not known.
struct HookApproach {
    /// A value that the function was called with.
    enum Origin: Hashable {
        /// General registers and, from 17 on, vector registers, as DWARF numbers them.
        case register(Int)
        /// What was in memory so many bytes above the stack pointer at the function's beginning.
        case memory(Int)
    }

    /// A value and how many of its low bytes are there.
    private struct Copy {
        var origin: Origin
        var size: Int
    }

    private enum Value {
        case copy(Copy)
        /// The stack pointer at the function's beginning, plus this.
        case frame(Int)
        /// What the function was not called with.
        case constant
        case unknown
    }

    private struct State {
        /// By the number that instructions have.
        var general: [Value] = (0..<16).map { number in
            number == 4 ? .frame(0) : .copy(Copy(origin: .register(HookApproach.dwarfNumbers[number]), size: 8))
        }
        var vector: [Value] = (0..<16).map { .copy(Copy(origin: .register(17 + $0), size: 16)) }
        var floating: [Value] = []
        /// What was stored in the frame, by offset from the stack pointer at the function's beginning.
        var slots: [Int: (value: Value, size: Int)] = [:]
    }

    private static let dwarfNumbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]

    private var state = State()
    /// At the call of the hook.
    private var atCall: State?
    /// What was stored first behind the call.
    private var later: [Int: Value] = [:]

    /// - Parameters:
    ///   - code: from the function's beginning on.
    ///   - address: of its beginning.
    ///   - hookReturn: where its call of the hook returns to.
    /// - Returns: nil when the code between them is not understood.
    init?(_ code: UnsafeRawBufferPointer, at address: UInt64, hookReturn: UInt64) {
        guard hookReturn > address, hookReturn - address < 4096 else { return nil }
        let call = Int(hookReturn - address)
        var decoder = MoveDecoder(code)
        while decoder.position < code.count {
            guard let instruction = decoder.next() else { break }
            if case .call = instruction {
                guard decoder.position == call, atCall == nil else { break }
                atCall = state
                for number in [0, 1, 2, 6, 7, 8, 9, 10, 11] { state.general[number] = .unknown }
                state.vector = state.vector.map { _ in .unknown }
                state.floating = []
                continue
            }
            if decoder.position >= call, atCall == nil || !execute(instruction) { break }
            if decoder.position < call, !execute(instruction) { break }
        }
        if atCall == nil { return nil }
    }

    // MARK: What it tells

    /// The stack pointer at the call of the hook, from the one at the function's beginning.
    private var stackPointer: Int? {
        if case .frame(let offset)? = atCall?.general[4] { offset } else { nil }
    }

    /// Where `size` bytes of a value are during the call.
    func place(of origin: Origin, size: Int) -> ArgumentLocation? {
        guard let atCall, let stackPointer else { return nil }
        for number in [3, 5, 12, 13, 14, 15] {
            if case .copy(let copy) = atCall.general[number], copy.origin == origin, copy.size >= size {
                return .value([.register(UInt8(Self.dwarfNumbers[number]))])
            }
        }
        if case .memory(let offset) = origin, atCall.slots[offset] == nil { return memory(offset, stackPointer) }
        for (offset, slot) in atCall.slots.sorted(by: { $0.key < $1.key }) {
            if case .copy(let copy) = slot.value, copy.origin == origin, copy.size >= size, slot.size >= size {
                return memory(offset, stackPointer)
            }
        }
        return nil
    }

    private func memory(_ offset: Int, _ stackPointer: Int) -> ArgumentLocation {
        .memory([.register(7), .add(Int64(offset - stackPointer))])
    }

    /// Where what DWARF places at `steps`, in the frame, is during the call. Nil when it is not known to be anywhere.
    func place(of steps: [ArgumentStep], size: Int) -> ArgumentLocation? {
        guard let atCall, let stackPointer, case .register(let register)? = steps.first else { return nil }
        var offset = 0, rest = steps.dropFirst()
        while case .add(let more)? = rest.first {
            offset += Int(more)
            rest = rest.dropFirst()
        }
        guard let number = Self.dwarfNumbers.firstIndex(of: Int(register)),
            case .frame(let base) = atCall.general[number]
        else { return nil }
        // What is there may only be the address.
        let slot = base + offset, wanted = rest.isEmpty ? size : 8
        func continued(_ place: ArgumentLocation) -> ArgumentLocation? {
            if rest.isEmpty { return place }
            guard rest.first == .load(8), let word = place.word() else { return nil }
            return .memory(word + rest.dropFirst())
        }
        if slot > 0 || isStored(slot, atCall) { return continued(memory(slot, stackPointer)) }
        if case .copy(let copy)? = later[slot], copy.size >= wanted {
            return self.place(of: copy.origin, size: wanted).flatMap(continued)
        }
        // Something of two words may have come in two registers.
        guard (9...16).contains(wanted), case .copy(let first)? = later[slot], first.size <= 8,
            case .copy(let second)? = later[slot + 8],
            let low = self.place(of: first.origin, size: first.size),
            let high = self.place(of: second.origin, size: second.size)
        else { return nil }
        return .pieces([
            ArgumentPiece(size: first.size, location: low), ArgumentPiece(size: 8 - first.size, location: .gone),
            ArgumentPiece(size: 8, location: high),
        ])
    }

    private func isStored(_ slot: Int, _ state: State) -> Bool {
        switch state.slots[slot]?.value {
        case nil, .constant: false
        default: true
        }
    }

    /// Where what DWARF places at `steps` at the function's beginning is during the call.
    func place(atBeginning steps: [ArgumentStep], size: Int) -> ArgumentLocation? {
        guard steps.first == .register(7), let stackPointer else { return nil }
        var offset = 0
        for step in steps.dropFirst() {
            guard case .add(let more) = step else { return nil }
            offset += Int(more)
        }
        return offset > 0 && atCall?.slots[offset] == nil ? memory(offset, stackPointer) : nil
    }

    // MARK: Following

    /// False: what follows cannot be known.
    private mutating func execute(_ instruction: MoveDecoder.Instruction) -> Bool {
        switch instruction {
        case .nothing: return true
        case .call, .other: return false
        case .push(let number):
            guard case .frame(let offset) = state.general[4] else { return false }
            state.general[4] = .frame(offset - 8)
            store(state.general[number], at: offset - 8, size: 8)
            return true
        case .moveStack(let bytes):
            guard case .frame(let offset) = state.general[4] else { return false }
            state.general[4] = .frame(offset + bytes)
            return true
        case .move(let to, let from, let size, let extent):
            return write(limited(read(from, size), size), to, size: max(size, extent))
        case .address(let to, let memory):
            state.general[to] = slot(memory).map { .frame($0) } ?? .unknown
            return to != 4
        case .constant(let operand, let size): return write(.constant, operand, size: size)
        case .change(let operands):
            for operand in operands where !write(.unknown, operand.operand, size: operand.size) { return false }
            return true
        case .loadFloating(let memory, let size):
            state.floating.append(read(.memory(memory), size))
            return true
        case .storeFloating(let memory, let size):
            return write(state.floating.popLast() ?? .unknown, .memory(memory), size: size)
        }
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
        guard let base = memory.base, memory.index == nil, case .frame(let offset) = state.general[base] else {
            return nil
        }
        return offset + memory.displacement
    }

    private func read(_ operand: MoveDecoder.Operand, _ size: Int) -> Value {
        switch operand {
        case .general(let number): return state.general[number]
        case .vector(let number): return state.vector[number]
        case .memory(let memory):
            guard let slot = slot(memory) else { return .unknown }
            if let known = state.slots[slot] { return known.size >= size ? known.value : .unknown }
            let isTouched = state.slots.contains { $0.key < slot + size && slot < $0.key + $0.value.size }
            return slot > 0 && !isTouched ? .copy(Copy(origin: .memory(slot), size: size)) : .unknown
        }
    }

    private mutating func write(_ value: Value, _ operand: MoveDecoder.Operand, size: Int) -> Bool {
        switch operand {
        case .general(let number):
            state.general[number] = value
            return number != 4
        case .vector(let number): state.vector[number] = value
        case .memory(let memory):
            // A store to anywhere else might be one to the frame.
            guard let slot = slot(memory) else { return false }
            store(value, at: slot, size: size)
        }
        return true
    }

    private mutating func store(_ value: Value, at slot: Int, size: Int) {
        for other in state.slots.keys where other != slot && other < slot + size {
            if slot < other + state.slots[other]!.size { state.slots[other]!.value = .unknown }
        }
        state.slots[slot] = (value, size)
        guard atCall != nil else { return }
        // Swift clears a place before it puts an argument there.
        switch later[slot] {
        case nil, .constant: later[slot] = value
        default: break
        }
    }
}
