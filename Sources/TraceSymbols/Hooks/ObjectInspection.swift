internal import CElfutils
internal import Glibc

/// Tells what of an object or a static library that is about to be linked went past Fathom.
public struct ObjectInspection: Sendable {
    /// Names of objects, such as `a.o` or `liba.a(a.o)`, that hold functions but were compiled past Fathom. Objects of
    /// gcc and clang keep no options (`-frecord-gcc-switches`), or none about hooks; Swift's keep none either, and do
    /// not call the sanitizer's hooks.
    public private(set) var withoutHookOptions: [String] = []

    /// Whether it holds Swift code with hooks.
    public private(set) var holdsHookedSwift = false

    /// Whether some of its code was compiled by way of Fathom, or is in a form that only its compiler can read.
    public private(set) var mayCallHooks = false

    /// - Parameter path: the file. One that cannot be read, or is no object or static library, counts as empty.
    /// - Complexity: O(size of the objects' section and symbol tables and the sections looked at).
    public init(_ path: String) {
        guard elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE) else { return }
        let descriptor = openWithoutWaiting(path)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard let file = elf_begin(descriptor, ELF_C_READ, nil) else { return }
        defer { elf_end(file) }
        guard elf_kind(file) == ELF_K_AR else {
            if elf_kind(file) == ELF_K_ELF { add(ObjectTraits(file), path) } else { mayCallHooks = true }
            return
        }
        var command = ELF_C_READ
        while let member = elf_begin(descriptor, command, file) {
            defer { elf_end(member) }
            if elf_kind(member) == ELF_K_ELF {
                let name = elf_getarhdr(member).flatMap { $0.pointee.ar_name }.map { String(cString: $0) } ?? "?"
                add(ObjectTraits(member), "\(path)(\(name))")
            } else if elf_kind(member) == ELF_K_NONE, elf_getarhdr(member)?.pointee.ar_name?.pointee != 0x2f {
                mayCallHooks = true
            }
            command = elf_next(member)
        }
    }

    private mutating func add(_ object: ObjectTraits, _ name: String) {
        if object.isBare { withoutHookOptions.append(name) }
        if object.isHookedSwift { holdsHookedSwift = true }
        if object.mayCallHooks { mayCallHooks = true }
    }
}

/// What an object's sections tell of its compiler.
private struct ObjectTraits {
    private var isSwift = false
    private var callsSanitizer = false
    private var isCompiled = false
    private var hasCode = false
    private var hasHookOptions = false
    private var isIntermediate = false

    /// Whether a compiler made it without hooks. An object that was assembled by hand names no compiler, and the
    /// compiler's intermediate form shows nothing until the link compiles it: both are false.
    var isBare: Bool {
        if isIntermediate || hasHookOptions || !hasCode { return false }
        return isSwift ? !callsSanitizer : isCompiled
    }

    var mayCallHooks: Bool { isIntermediate || hasHookOptions }

    var isHookedSwift: Bool { isSwift && (callsSanitizer || hasHookOptions) }

    init(_ object: OpaquePointer) {
        var names = 0
        guard elf_getshdrstrndx(object, &names) == 0 else { return }
        var symbols: (section: OpaquePointer, header: GElf_Shdr)?
        var section: OpaquePointer?
        while let next = elf_nextscn(object, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil,
                let name = elf_strptr(object, names, Int(header.sh_name)).map({ String(cString: $0) })
            else { continue }
            if header.sh_flags & UInt64(SHF_EXECINSTR) != 0, header.sh_size > 0 { hasCode = true }
            if header.sh_type == UInt32(SHT_SYMTAB) { symbols = (next, header) }
            switch name {
            case ".swift1_autolink_entries": isSwift = true
            case ".comment": if Self.holds(next, "GCC:") || Self.holds(next, "clang version") { isCompiled = true }
            case ".GCC.command.line":
                if Self.holds(next, "instrument-functions") || Self.holds(next, "-fxray-instrument")
                    || Self.holds(next, "-minstrument-return") || Self.holds(next, "__fathom_no_hooks")
                {
                    hasHookOptions = true
                }
            case ".llvm.lto": isIntermediate = true
            default: if name.hasPrefix(".gnu.lto_") { isIntermediate = true }
            }
        }
        if isSwift, let symbols {
            callsSanitizer = Self.names(Self.sanitizerSetup, object, symbols.section, symbols.header)
        }
    }

    /// Each object compiled with the sanitizer's hooks calls this, whatever functions it has.
    private static let sanitizerSetup = "__tsan_init"

    /// Whether a symbol table names an undefined symbol.
    private static func names(
        _ name: String, _ object: OpaquePointer, _ section: OpaquePointer, _ header: GElf_Shdr
    ) -> Bool {
        guard let data = elf_getdata(section, nil) else { return false }
        let count = data.pointee.d_size / max(1, gelf_fsize(object, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbol = GElf_Sym()
        return (0..<min(count, Int(Int32.max))).contains { index in
            gelf_getsym(data, Int32(index), &symbol) != nil && symbol.st_shndx == UInt16(SHN_UNDEF)
                && elf_strptr(object, Int(header.sh_link), Int(symbol.st_name)).map { strcmp($0, name) == 0 } == true
        }
    }

    private static func holds(_ section: OpaquePointer, _ text: String) -> Bool {
        guard let data = elf_getdata(section, nil), let bytes = data.pointee.d_buf, data.pointee.d_size > 0 else {
            return false
        }
        return UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size).firstRange(of: Array(text.utf8)) != nil
    }
}
