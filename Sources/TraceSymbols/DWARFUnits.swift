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

    /// Calls `body` with each unit that may describe code.
    ///
    /// Goes through the units themselves, not `.debug_aranges`, which clang and swiftc do not write.
    ///
    /// - Parameter body: gets the unit's own DIE, which has the line table, and the DIE that has the functions: of the
    ///   `.dwo` file for split DWARF, else the same.
    func forEach(_ body: (_ unit: inout Dwarf_Die, _ content: inout Dwarf_Die) -> Void) {
        var unit: OpaquePointer?
        while true {
            var (next, type) = (unit, UInt8(0))
            var (die, split) = (Dwarf_Die(), Dwarf_Die())
            guard dwarf_get_units(handle, unit, &next, nil, &type, &die, &split) == 0, let next else { return }
            unit = next
            switch Int(type) {
            case DW_UT_type, DW_UT_split_type, DW_UT_partial: continue
            default: break
            }
            if split.addr == nil { split = die }
            body(&die, &split)
        }
    }
}
