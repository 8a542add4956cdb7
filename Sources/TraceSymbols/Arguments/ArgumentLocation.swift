internal import CElfutils
internal import Glibc

/// A part of a thing that has several places.
struct ArgumentPiece {
    var size: Int
    var location: ArgumentLocation
}

/// Where a thing is while a hook runs, by the steps that lead there.
enum ArgumentLocation {
    /// The steps push its address.
    case memory([ArgumentStep])
    /// The steps push what it is, at most 8 bytes.
    case value([ArgumentStep])
    case bytes([UInt8])
    case pieces([ArgumentPiece])
    case gone

    /// Where the part of `size` bytes at `offset` is.
    func part(at offset: Int, size: Int) -> ArgumentLocation {
        switch self {
        case .memory(let steps): return .memory(offset == 0 ? steps : steps + [.add(Int64(offset))])
        case .value(let steps):
            if offset == 0 { return self }
            guard offset + size <= 8 else { return .gone }
            return .value(steps + [.bits(low: UInt8(offset * 8), count: UInt8(size * 8 & 63), isSigned: false)])
        case .bytes(let bytes):
            return offset + size <= bytes.count ? .bytes(Array(bytes[offset..<offset + size])) : .gone
        case .pieces(let pieces):
            var start = 0
            for piece in pieces {
                if offset >= start, offset + size <= start + piece.size {
                    return piece.location.part(at: offset - start, size: size)
                }
                start += piece.size
            }
            return .gone
        case .gone: return .gone
        }
    }

    /// Whether a register, or a word on the stack, has its address.
    var isAddress: Bool {
        guard case .memory(let steps) = self else { return false }
        return steps.first != .register(7) && steps.count == 1 || steps.contains(.load(8))
    }

    var isGone: Bool { if case .gone = self { true } else { false } }

    /// Steps that push the word of `size` bytes that is there; nil when it is gone.
    func word(size: Int = 8) -> [ArgumentStep]? {
        switch part(at: 0, size: size) {
        case .memory(let steps): return steps + [.load(UInt8(size))]
        case .value(let steps): return steps
        case .bytes(let bytes):
            guard bytes.count <= 8 else { return nil }
            return [.constant(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })]
        case .pieces, .gone: return nil
        }
    }
}

/// Reads DWARF's descriptions of places for one call of a hook.
struct LocationReader {
    /// Where the hook returns to.
    let address: UInt64
    /// Call frame information, of which one is enough.
    let frames: [OpaquePointer]
    /// The subprogram around the call, whose frame it is.
    let subprogram: Dwarf_Die
    let isARM: Bool
    /// Whether all registers are as the function has them, as at a function's first instruction.
    var keepsAll = false

    /// Where gcc says that an argument is at the call of the hook: only what it says at the call itself counts. Right behind it, the
    /// function may have given the argument another value, and what it says once for all of the code of an optimized function may
    /// be of another value as well.
    func location(of die: Dwarf_Die, isOptimized: Bool) -> ArgumentLocation? {
        var (die, attribute) = (die, Dwarf_Attribute())
        guard dwarf_attr(&die, UInt32(DW_AT_location), &attribute) != nil else { return nil }
        if isOptimized, Self.holdsAlways(&attribute), !isInCallersFrame(&attribute) { return nil }
        return location(by: &attribute, at: address &- 1)
    }

    private func isInCallersFrame(_ attribute: inout Dwarf_Attribute) -> Bool {
        guard let said = Self.operations(&attribute, at: address), said.count == 1, Int(said[0].atom) == DW_OP_fbreg
        else {
            return false
        }
        var (die, base) = (subprogram, Dwarf_Attribute())
        return Int64(bitPattern: UInt64(said[0].number)) >= 0
            && dwarf_attr(&die, UInt32(DW_AT_frame_base), &base) != nil
            && Self.operations(&base, at: address).map { $0.count == 1 && Int($0[0].atom) == DW_OP_call_frame_cfa }
                == true
    }

    /// Where DWARF says that an argument of Swift is at the call of the hook, or right behind it, because it cannot be given another
    /// value.
    func swiftLocation(of die: Dwarf_Die) -> ArgumentLocation? {
        var (die, attribute) = (die, Dwarf_Attribute())
        guard dwarf_attr(&die, UInt32(DW_AT_location), &attribute) != nil, !Self.holdsAlways(&attribute) else {
            return nil
        }
        return location(by: &attribute, at: address) ?? location(by: &attribute, at: address &- 1)
    }

    /// Whether this is one description, and no list of descriptions for parts of the code.
    static func holdsAlways(_ attribute: inout Dwarf_Attribute) -> Bool {
        let form = Int(dwarf_whatform(&attribute))
        return [DW_FORM_exprloc, DW_FORM_block, DW_FORM_block1, DW_FORM_block2, DW_FORM_block4].contains(form)
    }

    static func operations(_ attribute: inout Dwarf_Attribute, at address: UInt64) -> UnsafeMutableBufferPointer<
        Dwarf_Op
    >? {
        var expression: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        guard dwarf_getlocation_addr(&attribute, address, &expression, &count, 1) == 1, let expression, count > 0 else {
            return nil
        }
        return UnsafeMutableBufferPointer(start: expression, count: count)
    }

    /// Whether an argument that comes in a register is said to be anywhere else later.
    static func isMoved(_ die: Dwarf_Die, from register: Int) -> Bool {
        var (die, attribute) = (die, Dwarf_Attribute())
        guard dwarf_attr(&die, UInt32(DW_AT_location), &attribute) != nil else { return false }
        var (base, start, end) = (Dwarf_Addr(0), Dwarf_Addr(0), Dwarf_Addr(0))
        var expression: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        var offset = dwarf_getlocations(&attribute, 0, &base, &start, &end, &expression, &count)
        while offset > 0 {
            if count > 0, let first = expression?[0] {
                switch Int(first.atom) {
                case DW_OP_reg0 + register, DW_OP_breg0 + register, DW_OP_entry_value, DW_OP_GNU_entry_value: break
                default: return true
                }
            }
            offset = dwarf_getlocations(&attribute, offset, &base, &start, &end, &expression, &count)
        }
        return false
    }

    /// Whether a function calls another one with what it has got in a register.
    static func isPassedOn(_ register: Int, by die: Dwarf_Die) -> Bool {
        var (parent, child) = (die, Dwarf_Die())
        guard dwarf_child(&parent, &child) == 0 else { return false }
        repeat {
            var (attribute, location) = (Dwarf_Attribute(), Dwarf_Attribute())
            switch Int(dwarf_tag(&child)) {
            case DW_TAG_call_site, DW_TAG_GNU_call_site, DW_TAG_lexical_block, DW_TAG_inlined_subroutine:
                if isPassedOn(register, by: child) { return true }
            case DW_TAG_call_site_parameter, DW_TAG_GNU_call_site_parameter:
                guard
                    dwarf_attr(&child, UInt32(DW_AT_call_value), &attribute) != nil
                        || dwarf_attr(&child, UInt32(DW_AT_GNU_call_site_value), &attribute) != nil,
                    dwarf_attr(&child, UInt32(DW_AT_location), &location) != nil,
                    let value = operations(&attribute, at: 0), let first = value.first
                else { break }
                switch Int(first.atom) {
                case DW_OP_breg0 + register: return true
                case DW_OP_entry_value, DW_OP_GNU_entry_value:
                    var inner = Dwarf_Attribute()
                    if dwarf_getlocation_attr(&attribute, value.baseAddress!, &inner) == 0,
                        let op = operations(&inner, at: 0)?.first, Int(op.atom) == DW_OP_reg0 + register
                    {
                        return true
                    }
                default: break
                }
            default: break
            }
        } while withUnsafeMutablePointer(to: &child) { dwarf_siblingof($0, $0) } == 0
        return false
    }

    /// nil when it is nowhere to be found.
    func location(by attribute: inout Dwarf_Attribute, at place: UInt64) -> ArgumentLocation? {
        Self.operations(&attribute, at: place).flatMap { read($0, &attribute) }
    }

    private func read(_ operations: UnsafeMutableBufferPointer<Dwarf_Op>, _ attribute: inout Dwarf_Attribute)
        -> ArgumentLocation?
    {
        var pieces: [ArgumentPiece] = []
        var first = 0
        for (index, operation) in operations.enumerated() where Int(operation.atom) == DW_OP_piece {
            let part = UnsafeMutableBufferPointer(rebasing: operations[first..<index])
            pieces.append(
                ArgumentPiece(
                    size: Int(operation.number), location: part.isEmpty ? .gone : simple(part, &attribute) ?? .gone))
            first = index + 1
        }
        if pieces.isEmpty { return simple(operations, &attribute) }
        if pieces.allSatisfy(\.location.isGone) { return nil }
        return .pieces(pieces)
    }

    /// A description without pieces.
    private func simple(_ operations: UnsafeMutableBufferPointer<Dwarf_Op>, _ attribute: inout Dwarf_Attribute)
        -> ArgumentLocation?
    {
        var steps: [ArgumentStep] = []
        for index in operations.indices {
            let operation = operations[index]
            let isLast = index == operations.count - 1
            switch Int(operation.atom) {
            case DW_OP_reg0...DW_OP_reg31 where operations.count == 1:
                return register(Int(operation.atom) - DW_OP_reg0).map { .value($0) }
            case DW_OP_regx where operations.count == 1: return register(Int(operation.number)).map { .value($0) }
            case DW_OP_stack_value where isLast && !steps.isEmpty: return .value(steps)
            case DW_OP_implicit_value where operations.count == 1:
                var block = Dwarf_Block()
                guard dwarf_getlocation_implicit_value(&attribute, operations.baseAddress!, &block) == 0 else {
                    return nil
                }
                return .bytes(Array(UnsafeBufferPointer(start: block.data, count: Int(block.length))))
            case DW_OP_addrx, DW_OP_constx, DW_OP_GNU_addr_index:
                var result = Dwarf_Attribute()
                var value = Dwarf_Addr(0)
                guard dwarf_getlocation_attr(&attribute, operations.baseAddress! + index, &result) == 0,
                    dwarf_formaddr(&result, &value) == 0
                else { return nil }
                steps.append(.address(value))
            case DW_OP_convert, DW_OP_GNU_convert:
                guard let bits = Self.bits(of: operations.baseAddress! + index, &attribute) else { return nil }
                steps += bits
            default:
                guard let more = self.steps(of: operation) else { return nil }
                steps += more
            }
        }
        return steps.isEmpty ? nil : .memory(steps)
    }

    /// Steps that convert to a type of integers.
    private static func bits(of operation: UnsafeMutablePointer<Dwarf_Op>, _ attribute: inout Dwarf_Attribute)
        -> [ArgumentStep]?
    {
        if operation.pointee.number == 0 { return [] }
        var type = Dwarf_Die()
        // clang names them so, and only the name has the number of bits.
        guard dwarf_getlocation_die(&attribute, operation, &type) == 0, let name = dwarf_diename(&type),
            let (sign, digits) = split(String(cString: name)), let count = UInt8(digits), (1...64).contains(count)
        else { return nil }
        return count == 64 ? [] : [.bits(low: 0, count: count, isSigned: sign)]
    }

    private static func split(_ name: String) -> (isSigned: Bool, digits: Substring)? {
        for (prefix, isSigned) in [("DW_ATE_unsigned_", false), ("DW_ATE_signed_", true)] where name.hasPrefix(prefix) {
            return (isSigned, name.dropFirst(prefix.count))
        }
        return nil
    }

    /// Steps that do what `operation` does; nil for one that needs what is no more, or that no compiler was seen to use.
    private func steps(of operation: Dwarf_Op) -> [ArgumentStep]? {
        let number = UInt64(operation.number), signed = Int64(bitPattern: number)
        switch Int(operation.atom) {
        case DW_OP_breg0...DW_OP_breg31: return register(Int(operation.atom) - DW_OP_breg0, plus: signed)
        case DW_OP_bregx:
            return register(Int(operation.number), plus: Int64(bitPattern: UInt64(operation.number2)))
        case DW_OP_fbreg: return frameBase().map { $0 + [.add(signed)] }
        case DW_OP_call_frame_cfa: return callFrame()
        case DW_OP_addr: return [.address(number)]
        case DW_OP_lit0...DW_OP_lit31: return [.constant(UInt64(Int(operation.atom) - DW_OP_lit0))]
        case DW_OP_const1u, DW_OP_const2u, DW_OP_const4u, DW_OP_const8u, DW_OP_constu, DW_OP_const1s, DW_OP_const2s,
            DW_OP_const4s, DW_OP_const8s, DW_OP_consts:
            return [.constant(number)]
        case DW_OP_plus_uconst: return [.add(signed)]
        case DW_OP_deref: return [.load(8)]
        case DW_OP_deref_size where number <= 8: return [.load(UInt8(number))]
        case DW_OP_plus: return [.compute(.plus)]
        case DW_OP_minus: return [.compute(.minus)]
        case DW_OP_and: return [.compute(.and)]
        case DW_OP_or: return [.compute(.or)]
        case DW_OP_xor: return [.compute(.xor)]
        case DW_OP_shl: return [.compute(.shiftLeft)]
        case DW_OP_shr: return [.compute(.shiftRight)]
        case DW_OP_shra: return [.compute(.shiftRightSigned)]
        case DW_OP_mul: return [.compute(.times)]
        case DW_OP_nop: return []
        default: return nil
        }
    }

    // MARK: Registers

    /// Only what a callee saves is as it was when the hook is called.
    private func register(_ number: Int, plus offset: Int64 = 0) -> [ArgumentStep]? {
        let isKept =
            keepsAll
            ? (0...10).contains(number) || number == 13 || (17...24).contains(number)
            : isARM
                ? (19...29).contains(number) || number == 31 || (72...79).contains(number)
                : [3, 6, 7].contains(number) || (12...15).contains(number)
        guard isKept else { return nil }
        return [.register(UInt8(number))] + (offset == 0 ? [] : [.add(offset)])
    }

    private func frameBase() -> [ArgumentStep]? {
        var die = subprogram
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&die, UInt32(DW_AT_frame_base), &attribute) != nil,
            let base = location(by: &attribute, at: address &- 1)
        else { return nil }
        switch base {
        case .memory(let steps), .value(let steps): return steps
        case .bytes, .pieces, .gone: return nil
        }
    }

    /// The stack pointer of the caller at its call of the function: the canonical frame address.
    private func callFrame() -> [ArgumentStep]? {
        for information in frames {
            var frame: OpaquePointer?
            guard dwarf_cfi_addrframe(information, address &- 1, &frame) == 0, let frame else { continue }
            defer { free(UnsafeMutableRawPointer(frame)) }
            var operations: UnsafeMutablePointer<Dwarf_Op>?
            var count = 0
            guard dwarf_frame_cfa(frame, &operations, &count) == 0, let operations, count > 0 else { continue }
            var steps: [ArgumentStep] = []
            for index in 0..<count {
                guard Int(operations[index].atom) != DW_OP_call_frame_cfa, let more = self.steps(of: operations[index])
                else { return nil }
                steps += more
            }
            return steps
        }
        return nil
    }
}
