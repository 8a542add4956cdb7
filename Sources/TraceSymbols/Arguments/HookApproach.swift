/// Follows the machine code of a function from its beginning to its call of the enter hook, and a bit further, to know
/// where the values are that it was called with. Of a function with sleds, it follows the code behind the first one.
///
/// Debug information does not always say. clang describes an argument that lives in the frame as if it were there from the
/// first instruction on, although it is stored there only behind the hook. gcc describes a small integer as gone although
/// a register holds it. The code itself shows it: before the call of the hook, it moves each value to where the value is
/// kept during the call, and behind the call it takes the value from there.
///
/// Only moves and jumps ahead are understood, and only on x86-64. At anything else that might matter this ends, and what it
/// has not seen counts as not known.
struct HookApproach {
    /// A value that the function was called with.
    enum Origin: Hashable {
        /// General registers and, from 17 on, vector registers, as DWARF numbers them.
        case register(Int)
        /// What was in memory so many bytes above the stack pointer at the function's beginning.
        case memory(Int)

        /// Whether callers may pass something there. Of what comes in other registers, only the callers know what it is.
        var isPassed: Bool {
            switch self {
            case .register(let number): [1, 2, 4, 5, 8, 9, 13].contains(number) || (17...24).contains(number)
            case .memory: true
            }
        }
    }

    /// At the call of the hook.
    private var atCall: FrameState?
    /// The last state that is known, which is where the frame is complete if it ever is.
    private var last = FrameState()
    private var reads: Set<Origin> = []
    /// What was moved to places in the frame, in the order of the code. A push does not count: it may only make room.
    private var stores: [Int: [FrameState.Value]] = [:]

    /// - Parameters:
    ///   - code: from the function's beginning on.
    ///   - start: where among it the code begins that is followed: behind a sled, or 0.
    ///   - address: of the function's beginning.
    ///   - hookReturn: where its call of the hook returns to; nil: it has sleds.
    /// - Returns: nil when the code up to the hook is not understood.
    init?(_ code: UnsafeRawBufferPointer, from start: Int = 0, at address: UInt64, hookReturn: UInt64?) {
        var call: Int?
        if let hookReturn {
            guard hookReturn > address, hookReturn - address <= UInt64(code.count) else { return nil }
            call = Int(hookReturn - address)
        }
        follow(code, from: start, to: call)
        if call != nil, atCall == nil { return nil }
    }

    // MARK: What it tells

    /// Where what is at `location` at the function's beginning is during the call of the hook; nil when it is not known to
    /// be anywhere.
    func place(of location: ArgumentLocation, size: Int) -> ArgumentLocation? {
        switch location {
        case .value(let steps):
            guard steps.count == 1, case .register(let number)? = steps.first else { return nil }
            return place(of: .register(Int(number)), size: min(size, 8))
        case .memory(let steps):
            guard case .register(let number)? = steps.first else { return nil }
            guard number == 7 else {
                // The address came in a register.
                return place(of: .register(Int(number)), size: 8)?.word().map { .memory($0 + steps.dropFirst()) }
            }
            guard steps.count > 1, case .add(let offset) = steps[1] else { return nil }
            if steps.count == 2 { return place(of: .memory(Int(offset)), size: size) }
            return place(of: .memory(Int(offset)), size: 8)?.word().flatMap { word in
                steps[2] == .load(8) ? .memory(word + steps.dropFirst(3)) : nil
            }
        case .pieces(let pieces):
            var result: [ArgumentPiece] = []
            for piece in pieces {
                if piece.location.isGone {
                    result.append(piece)
                } else if let place = place(of: piece.location, size: piece.size) {
                    result.append(ArgumentPiece(size: piece.size, location: place))
                } else {
                    return nil
                }
            }
            return .pieces(result)
        case .bytes: return location
        case .gone: return nil
        }
    }

    /// Where `size` bytes of a value are during the call.
    func place(of origin: Origin, size: Int) -> ArgumentLocation? {
        guard let atCall else { return nil }
        for number in [3, 5, 12, 13, 14, 15] {
            if case .copy(let copy) = atCall.general[number], copy.origin == origin, copy.size >= size {
                return .value([.register(UInt8(FrameState.dwarfNumbers[number]))])
            }
        }
        if case .memory(let offset) = origin, !atCall.isTouched(offset, size) { return memory(offset, atCall) }
        for (offset, slot) in atCall.slots.sorted(by: { $0.key < $1.key }) {
            if case .copy(let copy) = slot.value, copy.origin == origin, copy.size >= size, slot.size >= size {
                return memory(offset, atCall)
            }
        }
        return nil
    }

    private func memory(_ offset: Int, _ state: FrameState) -> ArgumentLocation? {
        // The stack pointer first: the hook cannot change it.
        for number in [4, 5, 3, 12, 13, 14, 15] {
            guard case .frame(let base) = state.general[number], abs(offset - base) < FrameState.aligned / 2 else {
                continue
            }
            return .memory([.register(UInt8(FrameState.dwarfNumbers[number])), .add(Int64(offset - base))])
        }
        return nil
    }

    /// The offset in the frame of what is so far from a register by DWARF's number, where the frame is complete.
    func slot(register: Int, plus offset: Int) -> Int? {
        guard let number = FrameState.dwarfNumbers.firstIndex(of: register),
            case .frame(let base) = (atCall ?? last).general[number]
        else { return nil }
        return base + offset
    }

    /// Whether the code that was followed takes what is at `location` at the function's beginning, or its address, from there.
    func isRead(_ location: ArgumentLocation, size: Int = 8) -> Bool {
        switch location {
        case .value(let steps), .memory(let steps):
            guard case .register(let number)? = steps.first else { return false }
            if number != 7 { return reads.contains(.register(Int(number))) }
            guard steps.count > 1, case .add(let offset) = steps[1] else { return false }
            return reads.contains { origin in
                if case .memory(let place) = origin {
                    (Int(offset)..<Int(offset) + size).contains(place)
                } else {
                    false
                }
            }
        case .pieces(let pieces): return pieces.contains { isRead($0.location) }
        case .bytes, .gone: return false
        }
    }

    /// What the code says of a place in the frame.
    enum Home {
        /// What came in there at the function's beginning was put there: that is looked at, so callers pass it.
        case proved
        /// Only other things that came in were put there.
        case contradicted
        case unknown
    }

    /// Whether `size` bytes of what came in at `location` are put into the place `slot` of the frame or, if it `isIndirect`,
    /// their address.
    func home(of location: ArgumentLocation, size: Int, slot: Int, isIndirect: Bool) -> Home {
        switch location {
        case .value(let steps) where !isIndirect:
            guard steps.count == 1, case .register(let number)? = steps.first else { return .unknown }
            return home(of: .register(Int(number)), size: min(size, 8), slot)
        case .memory(let steps):
            guard case .register(let number)? = steps.first else { return .unknown }
            if number != 7 { return isIndirect ? home(of: .register(Int(number)), size: 8, slot) : .unknown }
            guard steps.count > 1, case .add(let offset) = steps[1] else { return .unknown }
            if steps.count > 2 { return isIndirect ? home(of: .memory(Int(offset)), size: 8, slot) : .unknown }
            if isIndirect { return .unknown }
            if slot == offset { return .proved }
            // Words of it may come in elsewhere.
            var result = home(of: .memory(Int(offset)), size: size, slot)
            guard result == .unknown, size > 8 else { return result }
            result = .proved
            for word in stride(from: 0, to: size, by: 8) where result != .contradicted {
                let home = home(of: .memory(Int(offset) + word), size: min(8, size - word), slot + word)
                if home != .proved { result = home }
            }
            return result
        case .pieces(let pieces) where !isIndirect:
            var offset = 0, result = Home.proved
            for piece in pieces {
                if !piece.location.isGone {
                    let home = home(of: piece.location, size: piece.size, slot: slot + offset, isIndirect: false)
                    if home != .proved { result = home }
                }
                offset += piece.size
            }
            return result
        default: return .unknown
        }
    }

    private func home(of origin: Origin, size: Int, _ slot: Int) -> Home {
        var result = Home.unknown
        for case .copy(let copy) in stores[slot] ?? [] where copy.origin.isPassed {
            if copy.origin == origin { return copy.size >= size ? .proved : .unknown }
            result = .contradicted
        }
        return result
    }

    /// What came in and was put first into a place of the frame, or is there from the beginning. This is what a function was called
    /// with where that cannot be given another value, as in Swift, which clears a place before it puts an argument there.
    func origin(of slot: Int, size: Int) -> ArgumentLocation? {
        if slot > 0 { return .memory([.register(7), .add(Int64(slot))]) }
        guard let first = first(slot) else { return nil }
        if first.size >= size { return first.location }
        // Something of two words may have come in two registers.
        guard (9...16).contains(size), first.size <= 8, let second = self.first(slot + 8) else { return nil }
        return .pieces([
            ArgumentPiece(size: first.size, location: first.location),
            ArgumentPiece(size: 8 - first.size, location: .gone), ArgumentPiece(size: 8, location: second.location),
        ])
    }

    private func first(_ slot: Int) -> FrameState.Copy? {
        let stores = stores[slot] ?? []
        guard case .copy(let copy)? = stores.first(where: { $0 != .constant }), copy.origin.isPassed else { return nil }
        return copy
    }

    // MARK: Following

    private mutating func follow(_ code: UnsafeRawBufferPointer, from start: Int, to call: Int?) {
        var decoder = MoveDecoder(code, at: start)
        var state: FrameState? = FrameState()
        // What is known where jumps lead.
        var ahead: [Int: FrameState] = [:]
        var isDivided = false
        while true {
            if let other = ahead.removeValue(forKey: decoder.position) {
                state = state.map { $0.joined(with: other) } ?? other
            }
            guard var now = state else {
                guard let next = ahead.keys.min() else { return }
                decoder.position = next
                continue
            }
            // Behind a sled, the frame is complete where the function first calls something or divides.
            if call != nil && atCall == nil || !isDivided { last = now }
            let position = decoder.position
            guard let instruction = decoder.next(), !ahead.keys.contains(where: { $0 < decoder.position }) else {
                return
            }
            switch instruction {
            case .call, .jump, .leave: isDivided = decoder.position != call
            default: break
            }
            if let memory = decoder.memory { now.note(.memory(memory)) }
            defer { reads.formUnion(now.reads) }
            switch instruction {
            case .call:
                if decoder.position == call, atCall == nil {
                    atCall = now
                } else if now.hasGivenAddresses {
                    if call != nil, atCall == nil { return }
                    now.forgetWhatIsGiven()
                }
                if atCall == nil, let call, position > call { return }
                now.forgetWhatCallsChange()
            case .jump(let distance, let isConditional):
                // Behind a sled or the hook, it matters only what is done with what came in.
                if let call, atCall == nil { guard position < call, distance >= 0 else { return } }
                let target = decoder.position + distance
                if distance >= 0 { ahead[target] = ahead[target].map { $0.joined(with: now) } ?? now }
                state = isConditional ? now : nil
                continue
            case .leave:
                state = nil
                continue
            default:
                guard let store = now.execute(instruction) else { return }
                if let store, call == nil || !isDivided || atCall == nil {
                    stores[store.slot, default: []].append(store.value)
                }
            }
            state = now
        }
    }
}
