internal import CElfutils

/// The cases of a module's Swift enumerations that have no payload: DWARF does not tell them, but what the Swift runtime is told of
/// types does (swift5_fieldmd; `FieldDescriptor` in RemoteInspection/Records.h, `TargetContextDescriptor` in ABI/Metadata.h).
///
/// The value of such an enumeration is the number of its case, in the order in which they were written.
struct SwiftEnumerations {
    /// By the names of types as the demangler writes them.
    private var cases: [String: [String]] = [:]
    private var ambiguous: Set<String> = []

    /// - Complexity: O(bytes of the section).
    init(_ file: borrowing ELFFile) {
        guard let section = file.section(named: "swift5_fieldmd"), let memory = FileMemory(file) else { return }
        let end = section.header.sh_addr &+ section.header.sh_size
        var place = section.header.sh_addr
        while place &+ 16 <= end, let head = memory.word(place &+ 8), let count = memory.word(place &+ 12) {
            let (kind, size) = (head & 0xffff, UInt64(head >> 16))
            guard size >= 12, UInt64(count) <= (end &- place) / size else { return }
            if kind == Self.enumeration, (2...256).contains(count), let name = Self.typeName(place, memory),
                let names = Self.cases(place &+ 16, Int(count), size, memory)
            {
                if cases.updateValue(names, forKey: name) != nil { ambiguous.insert(name) }
            }
            place = place &+ 16 &+ UInt64(count) &* size
        }
    }

    private static let enumeration: UInt32 = 2

    /// The cases of the type with this mangled name, by name; nil when they are not known, or have payloads.
    func cases(of mangledName: String) -> [String: Int64]? {
        guard mangledName.hasSuffix("OD"), let name = demangleSwift(String(mangledName.dropLast())),
            !ambiguous.contains(Self.plain(name)), let names = cases[Self.plain(name)]
        else { return nil }
        return Dictionary(names.enumerated().map { ($1, Int64($0)) }) { first, _ in first }
    }

    /// A private type is written as `(Name in _…)`.
    private static func plain(_ name: String) -> String {
        name.split(separator: ".").map { part in
            part.hasPrefix("(") ? String(part.dropFirst().prefix { $0 != " " }) : String(part)
        }.joined(separator: ".")
    }

    /// nil when some case has a payload.
    private static func cases(_ start: UInt64, _ count: Int, _ size: UInt64, _ memory: FileMemory) -> [String]? {
        var names: [String] = []
        for index in 0..<count {
            let field = start &+ UInt64(index) &* size
            guard memory.word(field &+ 4) == 0, let place = memory.target(field &+ 8), let name = memory.text(place)
            else {
                return nil
            }
            names.append(name)
        }
        return names
    }

    /// The name of the type that a field descriptor is of. Only one that is written as a reference to its description is read.
    private static func typeName(_ descriptor: UInt64, _ memory: FileMemory) -> String? {
        guard let reference = memory.target(descriptor), memory.byte(reference) == 1,
            var context = memory.target(reference &+ 1)
        else { return nil }
        var names: [String] = []
        for _ in 0..<16 {
            guard let flags = memory.word(context) else { return nil }
            switch flags & 31 {
            case 0, 16, 17, 18:  // a module, class, structure or enumeration
                guard let place = memory.target(context &+ 8), let name = memory.text(place) else { return nil }
                names.append(name)
                if flags & 31 == 0 { return names.reversed().joined(separator: ".") }
            case 2: break  // what is private is in a context without a name
            default: return nil
            }
            // The lowest bit says that the parent is another module's.
            guard let parent = memory.word(context &+ 4), parent & 1 == 0, let next = memory.target(context &+ 4) else {
                return nil
            }
            context = next
        }
        return nil
    }
}

/// What is in memory at addresses of a module's file.
private struct FileMemory {
    private let bytes: UnsafeRawBufferPointer
    private let segments: [GElf_Phdr]

    /// The bytes live as long as the file is open.
    init?(_ file: borrowing ELFFile) {
        var size = 0
        guard let start = elf_rawfile(file.handle, &size) else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        segments = file.segments.filter { $0.p_type == UInt32(PT_LOAD) }
    }

    private func offset(of address: UInt64) -> Int? {
        guard let segment = segments.first(where: { address >= $0.p_vaddr && address - $0.p_vaddr < $0.p_filesz })
        else {
            return nil
        }
        return Int(exactly: segment.p_offset &+ (address - segment.p_vaddr))
    }

    func byte(_ address: UInt64) -> UInt8? {
        guard let offset = offset(of: address), offset < bytes.count else { return nil }
        return bytes[offset]
    }

    func word(_ address: UInt64) -> UInt32? {
        guard let offset = offset(of: address), offset + 4 <= bytes.count else { return nil }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Where a relative reference at an address leads to; nil when it leads nowhere.
    func target(_ address: UInt64) -> UInt64? {
        guard let word = word(address), word != 0 else { return nil }
        return address &+ UInt64(bitPattern: Int64(Int32(bitPattern: word)))
    }

    func text(_ address: UInt64) -> String? {
        guard let offset = offset(of: address), offset < bytes.count else { return nil }
        return String(decoding: bytes[offset...].prefix(1024).prefix { $0 != 0 }, as: UTF8.self)
    }
}
