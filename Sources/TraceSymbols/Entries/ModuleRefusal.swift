internal import CElfutils
internal import Glibc

extension ELFFile {
    /// Why no function of the module gets a detour, in words that go on behind the module's name; nil: some may.
    ///
    /// Languages whose own runtime walks the stack read return addresses there, and end the program where one is not what they expect.
    ///
    /// - Parameter hasHooks: whether functions with hooks may have some.
    func refusesDetours(hasHooks: Bool) -> String? {
        if header.e_machine != UInt16(EM_X86_64), !isARM { return "is for neither x86-64 nor aarch64" }
        if isStatic { return "is linked statically, so that nothing can be preloaded" }
        if hasTextRelocations { return "has code that the dynamic linker changes" }
        if !hasHooks, callsHooks { return "has hooks of its own" }
        if section(where: { name, _ in [".gopclntab", ".go.buildinfo", ".note.go.buildid"].contains(name) }) != nil {
            return Self.walks("Go")
        }
        if namesSymbol(["mcount", "_mcount", "__fentry__"], in: SHT_DYNSYM, where: { $0 }) {
            return "was built for gprof (-pg), which looks at where functions return to"
        }
        let name = path.split(separator: "/").last ?? ""
        if name.hasPrefix("libjvm.so") { return Self.walks("Java") }
        if name.hasPrefix("libcoreclr") || name.hasPrefix("libmono") { return Self.walks(".NET") }
        let texts = [
            ("OCAMLRUNPARAM", "OCaml"), ("GHCRTS", "Haskell"), ("turbofan", "JavaScript (V8)"),
            ("MONO_ENV_OPTIONS", ".NET (Mono)"),
        ]
        for (text, language) in texts where hasText(text) { return Self.walks(language) }
        return nil
    }

    /// Whether it is a program that no dynamic linker starts.
    private var isStatic: Bool {
        if segments.contains(where: { $0.p_type == UInt32(PT_INTERP) }) { return false }
        guard let data = section(type: SHT_DYNAMIC)?.data else { return true }
        let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_DYN, 1, UInt32(EV_CURRENT)))
        var entry = GElf_Dyn()
        return (0..<min(count, Int(Int32.max))).contains { index in
            gelf_getdyn(data, Int32(index), &entry) != nil && entry.d_tag == GElf_Sxword(DT_FLAGS_1)
                && entry.d_un.d_val & UInt64(DF_1_PIE) != 0
        }
    }

    private var callsHooks: Bool {
        namesSymbol(Self.hooks, in: SHT_DYNSYM) { $0 } || namesSymbol(Self.hooks, in: SHT_SYMTAB) { _ in true }
            || hasSleds
    }

    private static let hooks = ["__cyg_profile_func_enter", "fathom_function_enter", "fathom_swift_enter"]

    private static func walks(_ language: String) -> String {
        "has the runtime of \(language), which walks its own stack and would end the program"
    }

    /// Whether the constants of the program have this text.
    private func hasText(_ text: String) -> Bool {
        section { name, header in
            guard name == ".rodata" || name == ".data.rel.ro", header.sh_type == UInt32(SHT_PROGBITS),
                let data = elf_getdata_rawchunk(
                    handle, Int64(bitPattern: header.sh_offset), Int(clamping: header.sh_size), ELF_T_BYTE),
                let bytes = data.pointee.d_buf
            else { return false }
            return UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size).holds(Array(text.utf8))
        } != nil
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func holds(_ text: [UInt8]) -> Bool {
        var at = 0
        while count - at >= text.count,
            let found = memchr(baseAddress! + at, Int32(text[0]), count - at - text.count + 1)
        {
            if memcmp(found, text, text.count) == 0 { return true }
            at = UnsafeRawPointer(found) - baseAddress! + 1
        }
        return false
    }
}
