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
    /// - Parameter body: gets the unit's own DIE, which has the line table, and the DIE that has the functions. With
    ///   split DWARF the second is that of the `.dwo` file; otherwise it is the same.
    func forEach(_ body: (_ unit: inout Dwarf_Die, _ content: inout Dwarf_Die) -> Void) {
        var unit: OpaquePointer?
        while true {
            var (next, type) = (unit, UInt8(0))
            var die = Dwarf_Die()
            guard dwarf_get_units(handle, unit, &next, nil, &type, &die, nil) == 0, let next else { return }
            unit = next
            var content = die
            switch Int(type) {
            case DW_UT_type, DW_UT_split_type, DW_UT_partial: continue
            case DW_UT_skeleton:
                // Without a table of addresses, a skeleton stands for a module of clang. The Swift compiler names
                // hundreds of those; they have no code, and the file may be anything.
                guard
                    dwarf_hasattr(&die, UInt32(DW_AT_addr_base)) != 0
                        || dwarf_hasattr(&die, UInt32(DW_AT_GNU_addr_base)) != 0
                else { continue }
                var split = Dwarf_Die()
                if dwarf_cu_info(next, nil, nil, nil, &split, nil, nil, nil) == 0, split.addr != nil { content = split }
            default: break
            }
            body(&die, &content)
        }
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
