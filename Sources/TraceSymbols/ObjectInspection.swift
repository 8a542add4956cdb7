internal import CElfutils
internal import Glibc

/// Objects about to be linked: which of them went past Fathom.
public enum ObjectInspection {
    /// Objects of a file that gcc or clang compiled, with functions, but not with its hooks in mind: those do not have the
    /// options kept (`-frecord-gcc-switches`), or kept none on hooks.
    ///
    /// - Parameter path: an object or a static library; anything else, or a file that cannot be read, has none.
    /// - Returns: `a.o`, or `liba.a(a.o)`.
    /// - Complexity: O(size of the objects' section tables and the sections looked at).
    public static func withoutHookOptions(_ path: String) -> [String] {
        guard elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE) else { return [] }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        guard let file = elf_begin(descriptor, ELF_C_READ, nil) else { return [] }
        defer { elf_end(file) }
        guard elf_kind(file) == ELF_K_AR else {
            return elf_kind(file) == ELF_K_ELF && isBare(file) ? [path] : []
        }
        var found: [String] = []
        var command = ELF_C_READ
        while let member = elf_begin(descriptor, command, file) {
            defer { elf_end(member) }
            if elf_kind(member) == ELF_K_ELF, isBare(member) {
                let name = elf_getarhdr(member).flatMap { $0.pointee.ar_name }.map { String(cString: $0) } ?? "?"
                found.append("\(path)(\(name))")
            }
            command = elf_next(member)
        }
        return found
    }

    private static func isBare(_ object: OpaquePointer) -> Bool {
        var names = 0
        guard elf_getshdrstrndx(object, &names) == 0 else { return false }
        var isCompiled = false
        var hasCode = false
        var section: OpaquePointer?
        while let next = elf_nextscn(object, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil,
                let name = elf_strptr(object, names, Int(header.sh_name)).map({ String(cString: $0) })
            else { continue }
            // The compiler's own form, to be compiled at the link: nothing to be seen yet.
            if name.hasPrefix(".gnu.lto_") || name == ".llvm.lto" { return false }
            if header.sh_flags & UInt64(SHF_EXECINSTR) != 0, header.sh_size > 0 { hasCode = true }
            if name == ".comment", holds(next, "GCC:") || holds(next, "clang version") { isCompiled = true }
            if name == ".GCC.command.line", holds(next, "instrument-functions") || holds(next, "__fathom_no_hooks") {
                return false
            }
        }
        // Assembled by hand, an object has no comment.
        return isCompiled && hasCode
    }

    private static func holds(_ section: OpaquePointer, _ text: String) -> Bool {
        guard let data = elf_getdata(section, nil), let bytes = data.pointee.d_buf, data.pointee.d_size > 0 else {
            return false
        }
        return UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size).firstRange(of: Array(text.utf8)) != nil
    }
}
