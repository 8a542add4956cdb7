internal import CElfutils
internal import Glibc

extension ELFFile {
    /// The symbols of local functions that distributions leave in stripped programs: a compressed ELF file in the section
    /// `.gnu_debugdata`, as GDB's manual describes it ("MiniDebugInfo"). nil when there is none.
    ///
    /// - Complexity: that of decompressing it.
    var miniDebugInfo: [UInt8]? {
        guard section(named: ".gnu_debugdata") != nil else { return nil }
        let callbacks = UnsafeMutablePointer<Dwfl_Callbacks>.allocate(capacity: 1)
        callbacks.initialize(to: Dwfl_Callbacks())
        defer { callbacks.deallocate() }
        callbacks.pointee.find_debuginfo = { _, _, _, _, _, _, _, _ in -1 }
        callbacks.pointee.section_address = dwfl_offline_section_address
        guard let dwfl = dwfl_begin(callbacks) else { return nil }
        defer { dwfl_end(dwfl) }
        // It closes its descriptor.
        let own = openedAgain()
        guard own >= 0 else { return nil }
        guard let module = dwfl_report_offline(dwfl, "module", "module", own) else {
            close(own)
            return nil
        }
        dwfl_report_end(dwfl, nil, nil)
        var bias = Dwarf_Addr(0)
        let main = dwfl_module_getelf(module, &bias)
        // The symbols of both tables, each with the file that it is in.
        for index in 0..<max(0, dwfl_module_getsymtab(module)) {
            var symbol = GElf_Sym()
            var (address, section, file) = (GElf_Addr(0), GElf_Word(0), OpaquePointer?.none)
            guard dwfl_module_getsym_info(module, index, &symbol, &address, &section, &file, nil) != nil,
                let file, file != main
            else { continue }
            var size = 0
            guard let image = elf_rawfile(file, &size), size > 0 else { return nil }
            return Array(UnsafeRawBufferPointer(start: image, count: size))
        }
        return nil
    }
}
