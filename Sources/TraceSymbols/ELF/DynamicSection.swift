internal import CElfutils
internal import Glibc

/// What a module's dynamic section says about the libraries it needs.
struct DynamicSection {
    /// DT_NEEDED, in order.
    private(set) var needed: [String] = []
    /// DT_SONAME.
    private(set) var name: String?
    /// DT_RPATH, which holds for the libraries below as well; empty when there is a DT_RUNPATH.
    private(set) var inheritedPaths: [String] = []
    /// DT_RUNPATH.
    private(set) var ownPaths: [String] = []

    /// Whether DT_FLAGS_1 says that it is a program, not a library.
    private(set) var isMarkedProgram = false

    private static let program: UInt64 = 0x0800_0000  // DF_1_PIE of <elf.h>

    init(_ file: borrowing ELFFile) {
        guard let section = file.section(type: SHT_DYNAMIC), let data = section.data else { return }
        let count = data.pointee.d_size / max(1, gelf_fsize(file.handle, ELF_T_DYN, 1, UInt32(EV_CURRENT)))
        var entry = GElf_Dyn()
        for index in 0..<min(count, Int(Int32.max)) where gelf_getdyn(data, Int32(index), &entry) != nil {
            let tag = Int32(truncatingIfNeeded: entry.d_tag)
            if tag == DT_FLAGS_1 { isMarkedProgram = entry.d_un.d_val & DynamicSection.program != 0 }
            guard [DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH].contains(tag),
                let offset = Int(exactly: entry.d_un.d_val),
                let pointer = elf_strptr(file.handle, Int(section.header.sh_link), offset)
            else { continue }
            let text = String(cString: pointer)
            switch tag {
            case DT_NEEDED: needed.append(text)
            case DT_SONAME: name = text
            case DT_RPATH: inheritedPaths = Self.paths(text, origin: file.path)
            default: ownPaths = Self.paths(text, origin: file.path)
            }
        }
        if !ownPaths.isEmpty { inheritedPaths = [] }
    }

    /// Splits a list at colons, and replaces `$ORIGIN` by the module's directory.
    private static func paths(_ list: String, origin: String) -> [String] {
        let resolved = realpath(origin, nil)
        defer { free(resolved) }
        let file = resolved.map { String(cString: $0) } ?? origin
        let directory = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        return list.split(separator: ":").map { path in
            String(path.replacing("${ORIGIN}", with: directory).replacing("$ORIGIN", with: directory))
        }
    }
}
