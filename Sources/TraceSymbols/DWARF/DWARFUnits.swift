internal import CElfutils

/// The DWARF of an open ELF file.
struct DWARFUnits: ~Copyable {
    private let handle: OpaquePointer

    /// nil when the file holds no readable DWARF.
    init?(_ file: borrowing ELFFile) {
        guard let handle = dwarf_begin_elf(file.handle, DWARF_C_READ, nil) else { return nil }
        self.handle = handle
    }

    deinit { dwarf_end(handle) }

    /// What `.debug_frame` says of frames; it lives as long as this does.
    var callFrames: OpaquePointer? { dwarf_getcfi(handle) }

    /// Calls `body` with each unit that may describe code.
    ///
    /// Goes through the units themselves, not `.debug_aranges`, which clang and swiftc do not write.
    ///
    /// - Parameters:
    ///   - wanted: ascending addresses; nil for all. Units that are known to hold none of these are passed over.
    ///   - body: gets the unit's own DIE, which has the line table, and the DIE that has the functions. With
    ///     split DWARF the second is that of the `.dwo` file; otherwise it is the same.
    func forEach(
        covering wanted: [UInt64]? = nil, _ body: (_ unit: inout Dwarf_Die, _ content: inout Dwarf_Die) -> Void
    ) {
        var known: Set<Dwarf_Off>?
        if let wanted {
            known = offsets(covering: wanted)
            if let known, !known.isEmpty, known.count <= Self.mostLookedUp {
                for offset in known.sorted() {
                    var die = Dwarf_Die()
                    var type = UInt8(0)
                    guard dwarf_offdie(handle, offset, &die) != nil,
                        dwarf_cu_info(die.cu, nil, &type, nil, nil, nil, nil, nil) == 0
                    else { continue }
                    visit(&die, type, die.cu, body)
                }
                return
            }
        }
        var unit: OpaquePointer?
        while true {
            var (next, type) = (unit, UInt8(0))
            var die = Dwarf_Die()
            guard dwarf_get_units(handle, unit, &next, nil, &type, &die, nil) == 0, let next else { return }
            unit = next
            if let wanted {
                if let known {
                    guard known.contains(dwarf_dieoffset(&die)) else { continue }
                } else if !Self.mayCover(&die, wanted) {
                    continue
                }
            }
            visit(&die, type, next, body)
        }
    }

    /// More units than these are found more quickly by going through all.
    private static let mostLookedUp = 1000

    private func visit(
        _ die: inout Dwarf_Die, _ type: UInt8, _ unit: OpaquePointer,
        _ body: (_ unit: inout Dwarf_Die, _ content: inout Dwarf_Die) -> Void
    ) {
        var content = die
        switch Int(type) {
        case DW_UT_type, DW_UT_split_type, DW_UT_partial: return
        case DW_UT_skeleton:
            // Without a table of addresses, a skeleton stands for a module of clang. The Swift compiler names
            // hundreds of those; they have no code, and the file may be anything.
            guard
                dwarf_hasattr(&die, UInt32(DW_AT_addr_base)) != 0
                    || dwarf_hasattr(&die, UInt32(DW_AT_GNU_addr_base)) != 0
            else { return }
            var split = Dwarf_Die()
            if dwarf_cu_info(unit, nil, nil, nil, &split, nil, nil, nil) == 0, split.addr != nil { content = split }
        default: break
        }
        body(&die, &content)
    }

    /// The offsets of the units that hold these addresses, by `.debug_aranges`; nil unless it has all of them.
    private func offsets(covering wanted: [UInt64]) -> Set<Dwarf_Off>? {
        var ranges: OpaquePointer?
        var count = 0
        guard dwarf_getaranges(handle, &ranges, &count) == 0, let ranges else { return nil }
        var found: Set<Dwarf_Off> = []
        for address in wanted {
            guard let range = dwarf_getarange_addr(ranges, address) else { return nil }
            var (start, length, offset) = (Dwarf_Addr(0), Dwarf_Word(0), Dwarf_Off(0))
            guard dwarf_getarangeinfo(range, &start, &length, &offset) == 0 else { return nil }
            found.insert(offset)
        }
        return found
    }

    /// Whether a unit may hold one of these addresses; one that does not say where its code is may.
    private static func mayCover(_ die: inout Dwarf_Die, _ wanted: [UInt64]) -> Bool {
        var (base, start, end) = (Dwarf_Addr(0), Dwarf_Addr(0), Dwarf_Addr(0))
        var offset = dwarf_ranges(&die, 0, &base, &start, &end)
        if offset <= 0 { return true }
        while offset > 0 {
            let index = wanted.partitioningIndex { $0 >= start }
            if index < wanted.count, wanted[index] < end { return true }
            offset = dwarf_ranges(&die, offset, &base, &start, &end)
        }
        return offset < 0
    }

    /// The file that holds the rest of a unit's split DWARF; nil when there is no rest.
    static func splitFile(of unit: inout Dwarf_Die) -> String? {
        var attribute = Dwarf_Attribute()
        guard
            dwarf_attr(&unit, UInt32(DW_AT_dwo_name), &attribute) != nil
                || dwarf_attr(&unit, UInt32(DW_AT_GNU_dwo_name), &attribute) != nil,
            let name = dwarf_formstring(&attribute)
        else { return nil }
        return String(cString: name)
    }

    /// The directory that the compiler ran in, by the unit's own DIE; nil when the DIE does not say, or the compiler
    /// was told to write something else there.
    static func directory(of unit: inout Dwarf_Die) -> String? {
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&unit, UInt32(DW_AT_comp_dir), &attribute) != nil,
            let path = dwarf_formstring(&attribute), path.pointee == CChar(UInt8(ascii: "/"))
        else { return nil }
        return String(cString: path)
    }
}
