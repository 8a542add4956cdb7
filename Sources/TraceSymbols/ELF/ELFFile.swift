internal import CElfutils
internal import Glibc

/// An open ELF file. Everything read from it is checked by libelf against the file's bounds.
struct ELFFile: ~Copyable {
    let path: String
    let handle: OpaquePointer
    let header: GElf_Ehdr
    private let descriptor: Int32

    /// Whether it is for aarch64; otherwise it is for x86-64, or for a machine that nothing here knows.
    var isARM: Bool { header.e_machine == UInt16(EM_AARCH64) }

    /// Passes the file that these bytes are; nil when they are none.
    static func withFile<Result>(of bytes: [UInt8], _ body: (borrowing ELFFile) -> Result?) -> Result? {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { image in
            guard elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE), let start = image.baseAddress,
                let handle = elf_memory(start.assumingMemoryBound(to: CChar.self), image.count)
            else { return nil }
            var header = GElf_Ehdr()
            guard elf_kind(handle) == ELF_K_ELF, gelf_getehdr(handle, &header) != nil else {
                elf_end(handle)
                return nil
            }
            return body(ELFFile(handle, header))
        }
    }

    private init(_ handle: OpaquePointer, _ header: GElf_Ehdr) {
        (path, self.handle, self.header, descriptor) = ("", handle, header, -1)
    }

    /// Another descriptor of the file, which is the caller's, or -1.
    func openedAgain() -> Int32 { openWithoutWaiting("/proc/self/fd/\(descriptor)") }

    /// - Parameters:
    ///   - path: of the file, or where it was.
    ///   - opened: a path that leads to the file now; nil: `path`.
    /// - Throws: ``SymbolProblem/missing(_:)`` or ``SymbolProblem/unreadable(_:reason:)``.
    init(path: String, at opened: String? = nil) throws(SymbolProblem) {
        guard elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE) else {
            throw .unreadable(path, reason: "libelf is too old")
        }
        let descriptor = openWithoutWaiting(opened ?? path)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw .missing(path) }
            throw .unreadable(path, reason: String(cString: strerror(errno)))
        }
        // The file is not mapped: if it shrinks while it is read, that must not end in SIGBUS.
        guard let handle = elf_begin(descriptor, ELF_C_READ, nil) else {
            let reason = String(cString: elf_errmsg(-1))
            close(descriptor)
            throw .unreadable(path, reason: reason)
        }
        var header = GElf_Ehdr()
        guard elf_kind(handle) == ELF_K_ELF, gelf_getehdr(handle, &header) != nil else {
            elf_end(handle)
            close(descriptor)
            throw .unreadable(path, reason: "not an ELF file")
        }
        self.path = path
        self.handle = handle
        self.header = header
        self.descriptor = descriptor
    }

    deinit {
        elf_end(handle)
        if descriptor >= 0 { close(descriptor) }
    }

    /// A section by its header.
    struct Section {
        let handle: OpaquePointer
        let header: GElf_Shdr

        /// The section's contents, decoded if need be; nil when it has none or lies outside the file.
        var data: UnsafeMutablePointer<Elf_Data>? {
            guard header.sh_type != UInt32(SHT_NOBITS), let data = elf_getdata(handle, nil),
                data.pointee.d_buf != nil, data.pointee.d_size > 0
            else { return nil }
            return data
        }
    }

    /// The first section for which `matches` holds. O(sections).
    func section(where matches: (_ name: String, _ header: GElf_Shdr) -> Bool) -> Section? {
        var names = 0
        guard elf_getshdrstrndx(handle, &names) == 0 else { return nil }
        var section: OpaquePointer?
        while let next = elf_nextscn(handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil else { continue }
            let name = elf_strptr(handle, names, Int(header.sh_name)).map { String(cString: $0) } ?? ""
            if matches(name, header) { return Section(handle: next, header: header) }
        }
        return nil
    }

    func section(named wanted: String) -> Section? { section { name, _ in name == wanted } }

    func section(type: Int32) -> Section? { section { _, header in header.sh_type == UInt32(type) } }

    func section(index: Int) -> Section? {
        var header = GElf_Shdr()
        guard let section = elf_getscn(handle, index), gelf_getshdr(section, &header) != nil else { return nil }
        return Section(handle: section, header: header)
    }

    /// Whether the file itself holds DWARF about functions, and not just empty sections for it.
    var hasDWARF: Bool {
        section { name, header in
            header.sh_type != UInt32(SHT_NOBITS) && (name == ".debug_info" || name == ".zdebug_info")
        } != nil
    }

    /// Program headers, in file order.
    var segments: [GElf_Phdr] {
        var count = 0
        guard elf_getphdrnum(handle, &count) == 0 else { return [] }
        return (0..<min(count, Int(UInt16.max))).compactMap { index in
            var segment = GElf_Phdr()
            return gelf_getphdr(handle, Int32(index), &segment) == nil ? nil : segment
        }
    }

    /// File addresses that may hold code: the executable segments.
    var codeRanges: [Range<UInt64>] {
        segments.compactMap { segment in
            let (end, overflow) = segment.p_vaddr.addingReportingOverflow(segment.p_memsz)
            guard segment.p_type == UInt32(PT_LOAD), segment.p_flags & UInt32(PF_X) != 0, !overflow else { return nil }
            return segment.p_vaddr..<end
        }
    }

    /// The descriptor of the first allocated note of that owner and type (any type when nil).
    ///
    /// It is read through the program headers, which stripping leaves alone.
    func note(owner: String, type: UInt32?) -> [UInt8]? { placedNote(owner: owner, type: type)?.descriptor }

    /// The same, with the descriptor's address.
    func placedNote(owner: String, type: UInt32?) -> (address: UInt64, descriptor: [UInt8])? {
        for segment in segments where segment.p_type == UInt32(PT_NOTE) {
            let kind = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR
            guard let offset = Int64(exactly: segment.p_offset), let size = Int(exactly: segment.p_filesz),
                let data = elf_getdata_rawchunk(handle, offset, size, kind), let bytes = data.pointee.d_buf
            else { continue }
            var position = 0
            var note = GElf_Nhdr()
            var (nameOffset, descriptorOffset) = (0, 0)
            while true {
                position = gelf_getnote(data, position, &note, &nameOffset, &descriptorOffset)
                if position == 0 { break }
                let name = UnsafeRawBufferPointer(start: bytes + nameOffset, count: Int(note.n_namesz))
                if name.elementsEqual(owner.utf8CString.lazy.map { UInt8(bitPattern: $0) }),
                    type == nil || note.n_type == type
                {
                    let content = UnsafeRawBufferPointer(start: bytes + descriptorOffset, count: Int(note.n_descsz))
                    return (segment.p_vaddr &+ UInt64(descriptorOffset), Array(content))
                }
            }
        }
        return nil
    }

    /// The GNU build-id, empty when the linker made none.
    /// The contents of the sections with code. They are copied, and a program has one large one as a rule.
    var executableBytes: [(range: Range<UInt64>, bytes: [UInt8])] {
        var found: [(range: Range<UInt64>, bytes: [UInt8])] = []
        _ = section { _, header in
            guard header.sh_flags & UInt64(SHF_EXECINSTR) != 0, header.sh_type != UInt32(SHT_NOBITS),
                let data = elf_getdata_rawchunk(
                    handle, Int64(bitPattern: header.sh_offset), Int(clamping: header.sh_size), ELF_T_BYTE),
                let bytes = data.pointee.d_buf
            else { return false }
            let count = data.pointee.d_size
            found.append(
                (
                    header.sh_addr..<header.sh_addr + UInt64(count),
                    Array(UnsafeRawBufferPointer(start: bytes, count: count))
                ))
            return false
        }
        return found
    }

    var buildID: [UInt8] { note(owner: "GNU", type: UInt32(NT_GNU_BUILD_ID)) ?? [] }

    /// Whether this is the same program as `other`, stripped or not: sections with code and data are at the same places, and
    /// code that both files hold is the same. O(sections + bytes of code).
    func hasSameCode(as other: borrowing ELFFile) -> Bool {
        let (mine, others) = (loadedSections, other.loadedSections)
        guard header.e_machine == other.header.e_machine, !mine.isEmpty, mine.count == others.count else {
            return false
        }
        return zip(mine, others).allSatisfy { left, right in
            guard left.header.sh_addr == right.header.sh_addr, left.header.sh_size == right.header.sh_size else {
                return false
            }
            guard left.header.sh_flags & UInt64(SHF_EXECINSTR) != 0, let code = left.data, let otherCode = right.data
            else { return true }
            return code.pointee.d_size == otherCode.pointee.d_size
                && memcmp(code.pointee.d_buf, otherCode.pointee.d_buf, code.pointee.d_size) == 0
        }
    }

    /// The sections that are loaded, in file order.
    private var loadedSections: [Section] {
        var sections: [Section] = []
        var section: OpaquePointer?
        while let next = elf_nextscn(handle, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_flags & UInt64(SHF_ALLOC) != 0 else { continue }
            sections.append(Section(handle: next, header: header))
        }
        return sections
    }
}
