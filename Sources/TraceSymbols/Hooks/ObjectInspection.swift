internal import CElfutils
internal import Glibc
internal import TraceText

/// Tells what of an object or a static library that is about to be linked went past Fathom.
public struct ObjectInspection: Sendable {
    /// Names of objects, such as `a.o` or `liba.a(a.o)`, that hold functions but were compiled past Fathom. Objects of
    /// gcc and clang keep no options (`-frecord-gcc-switches`), or none about hooks; Swift's keep none either, and do
    /// not call the sanitizer's hooks.
    public private(set) var withoutHookOptions: [String] = []

    /// The languages of these that get no hooks, such as Fortran, by the names of the sources that compilers leave in objects.
    public private(set) var otherLanguages: Set<String> = []

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
            let isELF = elf_kind(file) == ELF_K_ELF
            let members = isELF ? [] : ThinArchive.members(of: file, at: path)
            for member in members { add(ObjectInspection(member)) }
            if members.isEmpty { add(isELF ? ObjectTraits(file) : ObjectTraits(intermediate: file), path) }
            return
        }
        var command = ELF_C_READ
        while let member = elf_begin(descriptor, command, file) {
            defer { elf_end(member) }
            let name = elf_getarhdr(member).flatMap { $0.pointee.ar_name }.map { String(rawCString: $0) } ?? "?"
            if elf_kind(member) == ELF_K_ELF {
                add(ObjectTraits(member), "\(path)(\(name))")
            } else if elf_kind(member) == ELF_K_NONE, !name.hasPrefix("/") {
                add(ObjectTraits(intermediate: member), "\(path)(\(name))")
            }
            command = elf_next(member)
        }
    }

    private mutating func add(_ other: ObjectInspection) {
        withoutHookOptions += other.withoutHookOptions
        otherLanguages.formUnion(other.otherLanguages)
        holdsHookedSwift = holdsHookedSwift || other.holdsHookedSwift
        mayCallHooks = mayCallHooks || other.mayCallHooks
    }

    private mutating func add(_ object: ObjectTraits, _ name: String) {
        if object.isBare {
            withoutHookOptions.append(name)
            if let language = object.otherLanguage { otherLanguages.insert(language) }
        }
        if object.isHookedSwift { holdsHookedSwift = true }
        if object.mayCallHooks { mayCallHooks = true }
    }
}

/// An archive that names the objects which it stands for, as `ar rcT` makes it.
private enum ThinArchive {
    /// How such an archive begins; each member has a header of 60 bytes behind that (ar(5); GNU's ar writes names as System V's).
    private static let magic = Array("!<thin>\n".utf8)
    private static let headerSize = 60

    /// The paths of the objects; empty for any other file.
    ///
    /// - Parameter path: of the archive, in whose directory names begin.
    static func members(of file: OpaquePointer, at path: String) -> [String] {
        var size = 0
        guard let start = elf_rawfile(file, &size) else { return [] }
        let bytes = UnsafeRawBufferPointer(start: start, count: size)
        guard bytes.starts(with: magic) else { return [] }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var names = bytes[..<0], members: [String] = [], at = magic.count
        while at + headerSize <= size {
            let name = text(bytes[at..<(at + 16)]), length = Int(text(bytes[(at + 48)..<(at + 58)])) ?? 0
            at += headerSize
            guard name != "/", name != "//", name != "/SYM64/" else {
                // The tables alone have their content here.
                let end = min(size, at + max(0, length))
                if name == "//" { names = bytes[at..<end] }
                at = end + (length & 1)
                continue
            }
            var member = name.hasSuffix("/") ? String(name.dropLast()) : name
            if name.hasPrefix("/"), let offset = Int(name.dropFirst()), (0..<names.count).contains(offset) {
                member = String(raw: names[(names.startIndex + offset)...].prefix { $0 != 0x0a }.dropLast())
            }
            members.append(member.hasPrefix("/") ? member : directory + member)
        }
        return members
    }

    /// A field of a header, without the blanks behind it.
    private static func text(_ field: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: field.prefix { $0 != 0x20 }, as: UTF8.self)
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
    /// The language, where its source is of none that gets hooks.
    private(set) var otherLanguage: String?

    /// Whether a compiler made it without hooks. An object that was assembled by hand names no compiler: this is false.
    var isBare: Bool {
        if hasHookOptions || !hasCode { return false }
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
                if Self.hookOptions.contains(where: { Self.holds(next, $0) }) { hasHookOptions = true }
            case ".llvm.lto": isIntermediate = true
            default:
                guard name.hasPrefix(Self.gccIntermediate) else { break }
                isIntermediate = true
                // The link compiles what is there of functions and variables. Sections of other kinds have a second dot.
                if name.dropFirst(Self.gccIntermediate.count).first != "." { hasCode = true }
            }
        }
        if isBare, let symbols { otherLanguage = Self.otherLanguage(object, symbols.section, symbols.header) }
        if isSwift, let symbols {
            callsSanitizer = Self.names(Self.sanitizerSetup, object, symbols.section, symbols.header)
        }
    }

    /// A file that is no object: clang's intermediate form, which holds the names of its compiler and the options that it
    /// keeps as text, or something else.
    init(intermediate file: OpaquePointer) {
        isIntermediate = true
        var size = 0
        guard let start = elf_rawfile(file, &size) else { return }
        let bytes = UnsafeRawBufferPointer(start: start, count: size)
        guard bytes.starts(with: Self.bitcode) || bytes.starts(with: Self.wrappedBitcode) else { return }
        hasCode = true
        isCompiled = Self.holds(bytes, "clang version") && !Self.holds(bytes, "Swift version")
        hasHookOptions = Self.hookOptions.contains { Self.holds(bytes, $0) }
    }

    /// How LLVM's binary form begins, and the wrapper that it may have (LLVM Bitcode File Format).
    private static let bitcode: [UInt8] = [0x42, 0x43, 0xc0, 0xde]
    private static let wrappedBitcode: [UInt8] = [0xde, 0xc0, 0x17, 0x0b]

    /// How the names of the sections begin that hold gcc's intermediate form.
    private static let gccIntermediate = ".gnu.lto_"

    /// One of these is among the options of everything that is compiled by way of Fathom.
    private static let hookOptions = [
        "instrument-functions", "-fxray-instrument", "-minstrument-return", "__fathom_no_hooks",
    ]

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

    /// The language that the first source's name tells, of those that get no hooks.
    private static func otherLanguage(
        _ object: OpaquePointer, _ section: OpaquePointer, _ header: GElf_Shdr
    ) -> String? {
        guard let data = elf_getdata(section, nil) else { return nil }
        let count = data.pointee.d_size / max(1, gelf_fsize(object, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
        var symbol = GElf_Sym()
        // Symbols of files are local, and stand before those of the file's own.
        for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
            guard symbol.st_info & 0xf == UInt8(STT_FILE),
                let name = elf_strptr(object, Int(header.sh_link), Int(symbol.st_name)).map({ String(cString: $0) }),
                let dot = name.lastIndex(of: ".")
            else { continue }
            return otherLanguages[name[name.index(after: dot)...].lowercased()]
        }
        return nil
    }

    /// By the endings of sources, in lower case (gcc's "Options Controlling the Kind of Output").
    private static let otherLanguages = [
        "f": "Fortran", "for": "Fortran", "ftn": "Fortran", "fpp": "Fortran", "f90": "Fortran", "f95": "Fortran",
        "f03": "Fortran", "f08": "Fortran", "adb": "Ada", "ads": "Ada", "d": "D", "go": "Go", "mod": "Modula-2",
        "cu": "CUDA", "rs": "Rust",
    ]

    private static func holds(_ section: OpaquePointer, _ text: String) -> Bool {
        guard let data = elf_getdata(section, nil), let bytes = data.pointee.d_buf, data.pointee.d_size > 0 else {
            return false
        }
        return holds(UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size), text)
    }

    private static func holds(_ bytes: UnsafeRawBufferPointer, _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        var at = 0
        while bytes.count - at >= wanted.count,
            let found = memchr(bytes.baseAddress! + at, Int32(wanted[0]), bytes.count - at - wanted.count + 1)
        {
            if memcmp(found, wanted, wanted.count) == 0 { return true }
            at = UnsafeRawPointer(found) - bytes.baseAddress! + 1
        }
        return false
    }
}
