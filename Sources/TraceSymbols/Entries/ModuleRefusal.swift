internal import CElfutils
internal import Glibc

extension ELFFile {
    /// Why no function of the module gets a detour, in words that go on behind the module's name; nil: some may.
    ///
    /// Languages whose own runtime walks the stack read return addresses there, and end the program where one is not what they expect.
    var refusesDetours: String? {
        if header.e_machine != UInt16(EM_X86_64) { return "is not for x86-64" }
        if hasTextRelocations { return "has code that the dynamic linker changes" }
        if namesSymbol(Self.hooks, in: SHT_DYNSYM, where: { $0 })
            || namesSymbol(Self.hooks, in: SHT_SYMTAB, where: { _ in true })
            || hasSleds
        {
            return "has hooks of its own"
        }
        if section(where: { name, _ in [".gopclntab", ".go.buildinfo", ".note.go.buildid"].contains(name) }) != nil {
            return Self.walks("Go")
        }
        let name = path.split(separator: "/").last ?? ""
        if name.hasPrefix("libjvm.so") { return Self.walks("Java") }
        if name.hasPrefix("libcoreclr") || name.hasPrefix("libmono") { return Self.walks(".NET") }
        for (text, language) in [("OCAMLRUNPARAM", "OCaml"), ("GHCRTS", "Haskell"), ("turbofan", "JavaScript (V8)")]
        where hasText(text) { return Self.walks(language) }
        return nil
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
