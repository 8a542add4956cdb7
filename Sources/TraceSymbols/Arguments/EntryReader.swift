internal import CElfutils

/// Finds where a function's arguments are at its first instruction, and where its result is when it ends.
///
/// There, nothing of the function has run yet, or all of it. So values are where the calling convention puts them, as
/// long as the compiler has kept to it. It need not where it knows all callers of a function:
///
/// - gcc makes a clone of such a function, and gives that a name of its own. What a clone is called with is not known.
/// - LLVM leaves out and adds arguments, and passes anything at all in place of an argument that the function does not
///   look at. So only an argument counts that DWARF places, there, where the convention does, or that the code takes from
///   there to where DWARF places it. Where others cannot call the function, that must be so of all of its arguments,
///   because one that is left out moves the others. And it returns anything where it knows what callers make of the
///   result, so results of functions that others cannot call do not count.
///
/// What DWARF alone says of a first instruction may be wrong: of `void f(int a, int b) { a = b; … }` it says that `a` is
/// where `b` is. So nothing counts that the convention does not place.
struct EntryReader {
    let subprogram: Dwarf_Die
    /// Where the function begins, and where its code goes on behind a sled. The sled changes nothing.
    let start: UInt64
    let sledEnd: UInt64
    /// The function's symbol; nil when it has none.
    let symbol: (name: String, isLocal: Bool)?
    let isLLVM: Bool
    /// What the code shows; nil when it is not understood.
    let approach: HookApproach?
    private let reader: LocationReader
    private let language: DWARFLanguage

    /// One of the function's arguments.
    struct Argument {
        var name: String
        var type: ArgumentType?
        /// What the function says of it; nil when it does not have it.
        var place: Dwarf_Die?
        /// Whether nobody wrote it.
        var isArtificial: Bool
    }

    init(
        _ subprogram: Dwarf_Die, start: UInt64, sledEnd: UInt64?, symbol: (name: String, isLocal: Bool)?, isLLVM: Bool,
        frames: [OpaquePointer], approach: HookApproach?
    ) {
        self.subprogram = subprogram
        self.start = start
        self.sledEnd = sledEnd ?? start
        self.symbol = symbol
        self.isLLVM = isLLVM
        self.approach = approach
        // Frames are looked up at the instruction before a hook's return.
        reader = LocationReader(
            address: start + 1, frames: frames, subprogram: subprogram, isARM: false, keepsAll: true)
        language = DWARFLanguage(of: subprogram)
    }

    // MARK: What the compiler has kept to

    private var isLocal: Bool { symbol?.isLocal ?? true }

    private static func has(_ attribute: Int32, _ subprogram: Dwarf_Die) -> Bool {
        var (die, found) = (subprogram, Dwarf_Attribute())
        return dwarf_attr_integrate(&die, UInt32(attribute), &found) != nil
    }

    /// Clang and Swift write one of these of functions that they have optimised, except in old versions of DWARF.
    static func isOptimized(_ subprogram: Dwarf_Die) -> Bool {
        var version: Dwarf_Half = 0
        guard let unit = subprogram.cu, dwarf_cu_info(unit, &version, nil, nil, nil, nil, nil, nil) == 0, version >= 4
        else { return true }
        return [Int32(DW_AT_call_all_calls), Int32(DW_AT_GNU_all_call_sites), 0x3fe1].contains { has($0, subprogram) }
    }

    private var isOptimized: Bool { Self.isOptimized(subprogram) }

    private var isOrdinary: Bool {
        var (die, attribute, value) = (subprogram, Dwarf_Attribute(), Dwarf_Word(0))
        if dwarf_attr_integrate(&die, UInt32(DW_AT_calling_convention), &attribute) != nil,
            dwarf_formudata(&attribute, &value) != 0 || value != UInt64(DW_CC_normal)
        {
            return false
        }
        let name = symbol?.name ?? ""
        if ELFFile.marksOfClones.contains(where: name.contains) { return false }
        // Swift's functions with other arguments than those that were written.
        return language != .swift || !["Tf", "TG", "Tg", "TA", "TR"].contains(where: name.contains)
    }

    // MARK: Arguments

    /// What is known of where an argument is.
    struct Entry {
        var location = ArgumentLocation.gone
        /// That it is there, by more than the convention.
        var isProved = false
        /// Whether the function looks at it. What an argument only leads to may not be in memory otherwise: gcc leaves out stores
        /// that no function looks for.
        var isUsed = true
        /// Why it is not known.
        var reason = ArgumentKind.optimizedOut
    }

    /// Where each argument is that people wrote, and `this`.
    func entries(_ arguments: [Argument]) -> [Entry] {
        if language == .swift { return arguments.filter { !$0.isHidden }.map(swiftEntry) }
        guard isOrdinary, symbol != nil else {
            return arguments.filter { !$0.isHidden }.map { _ in Entry(reason: .unknown(.convention)) }
        }
        let result = ArgumentType(of: subprogram)
        let convention = CallingConvention(result: result, hasResult: hasResult)
        if !convention.isLost { return read(arguments, convention).entries }
        // Where its result goes may be passed in front of the arguments. What is said of these tells which is so.
        let ways = [true, false].map { read(arguments, CallingConvention(isFirstTaken: $0)) }
        for (index, way) in ways.enumerated() where way.isRight && !ways[1 - index].isRight { return way.entries }
        return arguments.filter { !$0.isHidden }.map { _ in Entry(reason: .unknown(.type)) }
    }

    /// An argument of Swift cannot be given another value, so that what DWARF says of it holds, and LLVM says where it is however
    /// callers pass it.
    private func swiftEntry(_ argument: Argument) -> Entry {
        let missing = Entry(reason: argument.hasLocation ? .unknown(.code) : .optimizedOut)
        guard var place = argument.place else { return missing }
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&place, UInt32(DW_AT_location), &attribute) != nil else { return missing }
        let always = LocationReader.holdsAlways(&attribute)
        for address in Set([start, sledEnd]).sorted() {
            if let home = frameSlot(&attribute, at: address, isComplete: always) {
                let size = home.isIndirect ? 8 : argument.type?.usedSize ?? 0
                guard let origin = approach?.origin(of: home.slot, size: size) else { return missing }
                if !home.isIndirect { return Entry(location: origin, isProved: true) }
                return origin.word().map { Entry(location: .memory($0), isProved: true) } ?? missing
            }
            guard !always, var said = reader.location(by: &attribute, at: address) else { continue }
            let size = argument.type?.usedSize ?? 8
            said = said.cut(to: size == 1 ? 1 : 8 * size)
            if said.isComing { return Entry(location: said, isProved: true) }
        }
        return missing
    }

    /// - Returns: `isRight`: what is said of an argument in a general register is what the convention says.
    private func read(_ arguments: [Argument], _ start: CallingConvention) -> (entries: [Entry], isRight: Bool) {
        var convention = start, entries: [Entry] = []
        convention.countsNull = !isLLVM
        var agreed = 0, contradicted = 0
        for argument in arguments {
            // gcc's constructors and destructors are versions of one that gets more than they do.
            if argument.name == "__in_chrg" { continue }
            if argument.isHidden { convention.lose() }
            let known = convention.next(argument.type)
            if argument.isHidden { continue }
            guard let known else {
                entries.append(Entry(reason: .unknown(.type)))
                continue
            }
            if case .gone = known {
                entries.append(Entry(isProved: true))
                continue
            }
            let said = said(argument, known)
            if said.home == .proved, known.isInGeneralRegisters { agreed += 1 }
            if said.home == .contradicted { contradicted += 1 }
            entries.append(entry(argument, said))
        }
        if isLLVM, isLocal, isOptimized, !entries.allSatisfy(\.isProved) {
            entries = entries.map { _ in Entry(reason: .unknown(.convention)) }
        }
        // gcc does not say which functions are called as another system's are.
        if !isLLVM, contradicted > 0, agreed == 0 {
            entries = entries.map { _ in Entry(reason: .unknown(.convention)) }
        }
        return (entries, agreed > 0 && contradicted == 0)
    }

    private func entry(_ argument: Argument, _ said: (home: HookApproach.Home, location: ArgumentLocation)) -> Entry {
        // LLVM says nothing of an argument that is not used.
        let isUsed = isLLVM || !isOptimized || isUsed(argument, said.location)
        if said.home == .proved { return Entry(location: said.location, isProved: true, isUsed: isUsed) }
        // What gcc passes is right, whatever the function makes of it.
        if !isLLVM || !isOptimized && said.home == .unknown && argument.hasLocation {
            return Entry(location: said.location, isUsed: isUsed)
        }
        return Entry(reason: argument.hasLocation ? .unknown(.code) : .optimizedOut)
    }

    /// Whether DWARF and the code say, too, that an argument comes in at `known`, and how much of it is there.
    private func said(_ argument: Argument, _ known: ArgumentLocation) -> (
        home: HookApproach.Home, location: ArgumentLocation
    ) {
        guard var place = argument.place else { return (.unknown, known) }
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&place, UInt32(DW_AT_location), &attribute) != nil else { return (.unknown, known) }
        let always = LocationReader.holdsAlways(&attribute)
        for address in Set([start, sledEnd]).sorted() {
            if let home = frameSlot(&attribute, at: address, isComplete: always) {
                let size = argument.type?.usedSize ?? 8
                guard let approach else { return (.unknown, known) }
                let result = approach.home(of: known, size: size, slot: home.slot, isIndirect: home.isIndirect)
                // LLVM leaves out what callers store in a copy at which the function does not look.
                let isCopy = isLLVM && isOptimized && argument.type?.isClass == true && known.isOnStack
                return (isCopy && result == .proved && !approach.isRead(known, size: size) ? .unknown : result, known)
            }
            guard !always, let said = reader.location(by: &attribute, at: address) else { continue }
            // Of a truth value, one bit is described.
            let bits = argument.type?.isTruth == true ? 1 : 8 * (argument.type?.usedSize ?? 8)
            return known.agreed(with: said.cut(to: bits)).map { (.proved, $0) } ?? (.contradicted, known)
        }
        return (.unknown, known)
    }

    /// The place in the frame, by its offset from the stack pointer at the function's beginning, where DWARF puts a thing or,
    /// if it `isIndirect`, its address. Nil: it says something else.
    ///
    /// - Parameter isComplete: whether the description is of a frame that is complete.
    private func frameSlot(_ attribute: inout Dwarf_Attribute, at address: UInt64, isComplete: Bool)
        -> (slot: Int, isIndirect: Bool)?
    {
        guard let operations = LocationReader.operations(&attribute, at: address), operations.count <= 2,
            let slot = frameSlot(operations[0], isComplete: isComplete)
        else { return nil }
        // A number of the x87 is said to be a piece of 10 bytes.
        if operations.count == 1 || Int(operations[1].atom) == DW_OP_piece { return (slot, false) }
        return Int(operations[1].atom) == DW_OP_deref ? (slot, true) : nil
    }

    private func frameSlot(_ operation: Dwarf_Op, isComplete: Bool) -> Int? {
        let offset = Int(Int64(bitPattern: UInt64(operation.number)))
        switch Int(operation.atom) {
        case DW_OP_fbreg:
            var (die, attribute) = (subprogram, Dwarf_Attribute())
            guard dwarf_attr(&die, UInt32(DW_AT_frame_base), &attribute) != nil,
                let base = LocationReader.operations(&attribute, at: start), base.count == 1
            else { return nil }
            switch Int(base[0].atom) {
            // What calls a function puts one word above its stack pointer.
            case DW_OP_call_frame_cfa: return 8 + offset
            case DW_OP_reg0...DW_OP_reg31:
                return approach?.slot(register: Int(base[0].atom) - DW_OP_reg0, plus: offset)
            default: return nil
            }
        case DW_OP_breg0...DW_OP_breg31:
            let register = Int(operation.atom) - DW_OP_breg0
            if isComplete { return approach?.slot(register: register, plus: offset) }
            return register == 7 ? offset : nil
        default: return nil
        }
    }

    /// Whether the code takes an argument from where it came in, keeps it, or passes it on from there.
    private func isUsed(_ argument: Argument, _ known: ArgumentLocation) -> Bool {
        if approach?.isRead(known) == true { return true }
        guard case .register(let register)? = known.firstStep, register != 7 else { return false }
        return argument.place.map { LocationReader.isMoved($0, from: Int(register)) } == true
            || LocationReader.isPassedOn(Int(register), by: subprogram)
    }

    // MARK: Results

    private var hasResult: Bool { Self.has(Int32(DW_AT_type), subprogram) }

    /// Where the result is; nil when there is none.
    func result() -> (type: ArgumentType, location: ArgumentLocation, reason: ArgumentKind)? {
        guard let type = ArgumentType(of: subprogram), type.passing != .nothing else { return nil }
        guard isKept else { return (type, .gone, .unknown(mayThrow ? .throwing : .convention)) }
        guard let location = CallingConvention.result(type) else { return (type, .gone, .unknown(.type)) }
        return (type, location, .optimizedOut)
    }

    /// What throws, in Swift, returns nothing where it has thrown.
    private var mayThrow: Bool { language == .swift && symbol?.name.contains("KF") == true }

    private var isKept: Bool {
        guard let name = symbol?.name else { return false }
        if [".isra", ".part"].contains(where: name.contains) { return false }
        if language == .swift {
            guard !name.isEmpty, !mayThrow, isOrdinary else { return false }
        }
        if isLLVM, isOptimized, isLocal { return false }
        return isOrdinary || !isLLVM
    }
}

extension EntryReader.Argument {
    /// Whether it is none that is shown.
    var isHidden: Bool { isArtificial && name != "this" && name != "self" }

    fileprivate var hasLocation: Bool {
        guard var place else { return false }
        var attribute = Dwarf_Attribute()
        return dwarf_attr(&place, UInt32(DW_AT_location), &attribute) != nil
    }
}

extension ArgumentLocation {
    /// Whether all of it, or its address, is in general registers.
    fileprivate var isInGeneralRegisters: Bool {
        switch self {
        case .value(let steps), .memory(let steps):
            guard steps.count == 1, case .register(let number) = steps[0] else { return false }
            return number != 7 && number < 17
        case .pieces(let pieces): return pieces.allSatisfy(\.location.isInGeneralRegisters)
        case .bytes, .gone: return false
        }
    }

    /// Whether all that is there is in registers that callers may put it in.
    fileprivate var isComing: Bool {
        switch self {
        case .value(let steps), .memory(let steps):
            guard case .register(let number)? = steps.first else { return false }
            return HookApproach.Origin.register(Int(number)).isPassed
        case .pieces(let pieces): return pieces.allSatisfy { $0.location.isGone || $0.location.isComing }
        case .bytes: return true
        case .gone: return false
        }
    }

    fileprivate var isOnStack: Bool {
        guard case .memory(let steps) = self else { return false }
        return steps.count == 2 && steps[0] == .register(7)
    }

    fileprivate var firstStep: ArgumentStep? {
        switch self {
        case .value(let steps), .memory(let steps): steps.first
        case .pieces(let pieces): pieces.first?.location.firstStep
        case .bytes, .gone: nil
        }
    }

    /// The register alone of which this takes the lowest bits, if it takes no fewer than `bits`.
    fileprivate func cut(to bits: Int) -> ArgumentLocation {
        guard case .value(let steps) = self, bits <= 64, case .register? = steps.first else { return self }
        var rest = steps.dropFirst()
        while let step = rest.popFirst() {
            switch step {
            case .bits(low: 0, let count, _) where count >= bits: continue
            case .constant(let mask) where mask.trailingOnes >= bits && rest.first == .compute(.and):
                rest = rest.dropFirst()
            default: return self
            }
        }
        return .value([steps[0]])
    }

    /// This, as far as `other` says the same; nil when it says something else.
    fileprivate func agreed(with other: ArgumentLocation) -> ArgumentLocation? {
        switch (self, other) {
        case (_, .gone): return .gone
        case (.value(let steps), .value(let others)), (.memory(let steps), .memory(let others)):
            return steps == others ? self : nil
        case (.pieces(let pieces), .pieces(let others)):
            guard pieces.map(\.size) == others.map(\.size) else { return nil }
            var result: [ArgumentPiece] = []
            for (piece, other) in zip(pieces, others) {
                guard let agreed = piece.location.agreed(with: other.location) else { return nil }
                result.append(ArgumentPiece(size: piece.size, location: agreed))
            }
            return .pieces(result)
        default: return nil
        }
    }
}

extension UInt64 {
    fileprivate var trailingOnes: Int { (~self).trailingZeroBitCount }
}
