internal import CElfutils

/// Finds where a function's arguments are at its first sled, and its result at those that end it.
///
/// There, nothing of the function has run yet, or all of it. So values are where the calling convention puts them, as
/// long as the compiler has kept to it. It need not where it knows all callers of a function:
///
/// - gcc makes a clone of such a function, and gives that a name of its own. What a clone is called with is not shown.
/// - LLVM leaves out and adds arguments, and passes anything at all in place of an argument that the function does not
///   look at. So only an argument counts that DWARF places, there, where the convention does; and where others cannot
///   call the function, only when that is so of all of its arguments, in registers, because one that is left out moves
///   the others. And it returns anything where it knows what callers make of the result, so results of functions that
///   others cannot call do not count.
///
/// What DWARF alone says of a first instruction may be wrong: of `void f(int a, int b) { a = b; … }` it says that `a` is
/// where `b` is. So nothing counts that the convention does not place.
struct SledReader {
    let subprogram: Dwarf_Die
    /// Where the function begins, and where its first sled ends. The sled changes nothing.
    let start: UInt64
    let sledEnd: UInt64
    /// The function's symbol; nil when it has none.
    let symbol: (name: String, isLocal: Bool)?
    let isLLVM: Bool
    private let reader: LocationReader
    private let language: DWARFLanguage

    init(
        _ subprogram: Dwarf_Die, start: UInt64, sledEnd: UInt64, symbol: (name: String, isLocal: Bool)?, isLLVM: Bool,
        frames: [OpaquePointer]
    ) {
        self.subprogram = subprogram
        self.start = start
        self.sledEnd = sledEnd
        self.symbol = symbol
        self.isLLVM = isLLVM
        // Frames are looked up at the instruction before a hook's return.
        reader = LocationReader(
            address: start + 1, frames: frames, subprogram: subprogram, isARM: false, approach: nil, start: nil,
            storesLate: false, keepsAll: true)
        language = DWARFLanguage(of: subprogram)
    }

    // MARK: What the compiler has kept to

    private var isLocal: Bool { symbol?.isLocal ?? true }

    private func has(_ attribute: Int32) -> Bool {
        var (die, found) = (subprogram, Dwarf_Attribute())
        return dwarf_attr_integrate(&die, UInt32(attribute), &found) != nil
    }

    /// Clang and Swift write one of these of functions that they have optimised, except in old versions of DWARF.
    private var isOptimized: Bool {
        var version: Dwarf_Half = 0
        guard let unit = subprogram.cu, dwarf_cu_info(unit, &version, nil, nil, nil, nil, nil, nil) == 0, version >= 4
        else { return true }
        return [Int32(DW_AT_call_all_calls), Int32(DW_AT_GNU_all_call_sites), 0x3fe1].contains(where: has)
    }

    private var isOrdinary: Bool {
        var (die, attribute, value) = (subprogram, Dwarf_Attribute(), Dwarf_Word(0))
        if dwarf_attr_integrate(&die, UInt32(DW_AT_calling_convention), &attribute) != nil,
            dwarf_formudata(&attribute, &value) != 0 || value != UInt64(DW_CC_normal)
        {
            return false
        }
        let name = symbol?.name ?? ""
        if [".isra", ".part", ".constprop"].contains(where: name.contains) { return false }
        // Swift's functions with other arguments than those that were written.
        return language != .swift || !["Tf", "TG", "Tg", "TA", "TR"].contains(where: name.contains)
    }

    // MARK: Arguments

    /// Where each argument is.
    ///
    /// - Parameters:
    ///   - types: of all of the arguments, in their order.
    ///   - places: the descriptions of those that the function has.
    func places(
        types: [ArgumentType?], places: [Dwarf_Die?], names: [String], hasOthers: Bool
    ) -> [ArgumentLocation] {
        var convention = CallingConvention(
            result: ArgumentType(of: subprogram), hasResult: hasResult, isSwift: language == .swift)
        if hasOthers || !isOrdinary || symbol == nil { convention.lose() }
        var result: [ArgumentLocation] = []
        for (index, type) in types.enumerated() {
            if language == .swift, names[index] == "self" { convention.lose() }
            result.append(convention.next(type).map { place(places[index], $0) } ?? .gone)
        }
        if isLLVM, isLocal, isOptimized, !zip(types, result).allSatisfy({ $0?.passing == .nothing || $1.isInRegisters })
        {
            return result.map { _ in .gone }
        }
        return result
    }

    /// - Parameter known: where the convention places it.
    private func place(_ place: Dwarf_Die?, _ known: ArgumentLocation) -> ArgumentLocation {
        guard isLLVM else { return known }
        guard var place else { return .gone }
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&place, UInt32(DW_AT_location), &attribute) != nil else { return .gone }
        if LocationReader.holdsAlways(&attribute), let location = reader.location(by: &attribute, at: start),
            case .memory = location
        {
            // It is there once the function has put it there, or is where the caller has put it.
            return known
        }
        for address in [start, sledEnd] {
            if let said = reader.location(by: &attribute, at: address) { return known.agreed(with: said) }
        }
        return .gone
    }

    // MARK: Results

    var hasResult: Bool { has(Int32(DW_AT_type)) }

    /// Where the result is; nil when there is none.
    func result() -> (type: ArgumentType, location: ArgumentLocation)? {
        guard let type = ArgumentType(of: subprogram), type.passing != .nothing else { return nil }
        guard isKept, let location = CallingConvention.result(type) else { return (type, .gone) }
        return (type, location)
    }

    private var isKept: Bool {
        guard let name = symbol?.name else { return false }
        if [".isra", ".part"].contains(where: name.contains) { return false }
        if language == .swift {
            // What throws returns nothing where it has thrown.
            guard !name.isEmpty, !name.hasSuffix("KF"), !name.contains("KF"), isOrdinary else { return false }
        }
        if isLLVM, isOptimized, isLocal { return false }
        return isOrdinary || !isLLVM
    }
}

extension ArgumentLocation {
    /// Whether all of the value, or its address, is in registers that callers put arguments in.
    fileprivate var isInRegisters: Bool {
        switch self {
        case .value(let steps), .memory(let steps):
            guard steps.count == 1, case .register(let number) = steps[0] else { return false }
            return number != 7
        case .pieces(let pieces): return pieces.allSatisfy(\.location.isInRegisters)
        case .bytes, .gone: return false
        }
    }

    /// This, as far as `other` says the same.
    fileprivate func agreed(with other: ArgumentLocation) -> ArgumentLocation {
        switch (self, other) {
        case (.value(let steps), .value(let others)), (.memory(let steps), .memory(let others)):
            return steps == others ? self : .gone
        case (.pieces(let pieces), .pieces(let others)):
            guard pieces.map(\.size) == others.map(\.size) else { return .gone }
            return .pieces(
                zip(pieces, others).map {
                    ArgumentPiece(size: $0.size, location: $0.location.agreed(with: $1.location))
                })
        default: return .gone
        }
    }
}
