internal import Glibc
internal import TraceWatch

/// A module as the dynamic loader has it in memory, with the tables that its dynamic section names ("Dynamic Linking" in the
/// System V ABI).
struct LoadedModule {
    /// As the loader calls it; empty for the program.
    let name: String
    let bias: UInt64
    let dynamic: UInt64
    private var symbols: UInt64 = 0
    private var strings: UInt64 = 0, stringsSize = 0
    private var hash: UInt64 = 0
    private var tables: [(address: UInt64, size: UInt64)] = []

    private struct Entry { var tag: Int64, value: UInt64 }

    struct Symbol {
        var name: UInt32
        var info: UInt8, other: UInt8
        var section: UInt16
        var value: UInt64
        var size: UInt64

        var isDefined: Bool { section != UInt16(SHN_UNDEF) }
    }

    private struct Relocation {
        var offset: UInt64
        var info: UInt64
        var addend: Int64
    }

    /// A word that holds the address of a symbol.
    struct Slot {
        var address: UInt64
        var name: String
        /// Whether functions are called through it and it may not be bound yet.
        var isLazy: Bool
    }

    init?(_ memory: ProcessMemory, name: String, bias: UInt64, dynamic: UInt64) {
        self.name = name
        self.bias = bias
        self.dynamic = dynamic
        var jumps: (address: UInt64, size: UInt64) = (0, 0), others: (address: UInt64, size: UInt64) = (0, 0)
        // The loader has put addresses in place of most offsets, but not in a section that it cannot write to.
        let address = { (value: UInt64) in value < bias ? value &+ bias : value }
        for index in 0..<UInt64(4096) {
            guard let entry: Entry = memory.load(dynamic &+ index &* 16) else { return nil }
            switch entry.tag {
            case Int64(DT_NULL):
                tables = [jumps, others].filter { $0.address != 0 && $0.size > 0 }
                return
            case Int64(DT_SYMTAB): symbols = address(entry.value)
            case Int64(DT_STRTAB): strings = address(entry.value)
            case Int64(DT_STRSZ): stringsSize = Int(clamping: entry.value)
            case 0x6fff_fef5: hash = address(entry.value)  // DT_GNU_HASH
            case Int64(DT_JMPREL): jumps.address = address(entry.value)
            case Int64(DT_PLTRELSZ): jumps.size = entry.value
            case Int64(DT_RELA): others.address = address(entry.value)
            case Int64(DT_RELASZ): others.size = entry.value
            default: break
            }
        }
        return nil
    }

    var fileName: Substring { name.split(separator: "/").last ?? "" }

    /// Whether it is a part of the C library, of the loader or of the compiler's unwinder.
    var isSystem: Bool {
        ["libc.so", "libc-", "libpthread", "libdl", "ld-linux", "ld-2", "libgcc_s", "libunwind.so"]
            .contains { fileName.hasPrefix($0) }
    }

    /// The addresses of a symbol that it defines, of all its versions.
    ///
    /// - Complexity: O(1), by GNU's hash table (https://flapenguin.me/elf-dt-gnu-hash).
    func addresses(of name: String, _ memory: ProcessMemory) -> [UInt64] {
        guard hash != 0, symbols != 0, let head: (UInt32, UInt32, UInt32, UInt32) = memory.load(hash), head.0 > 0
        else { return [] }
        var wanted: UInt32 = 5381
        for byte in name.utf8 { wanted = wanted &* 33 &+ UInt32(byte) }
        let buckets = hash &+ 16 &+ UInt64(head.2) &* 8, hashes = buckets &+ UInt64(head.0) &* 4
        guard var index: UInt32 = memory.load(buckets &+ UInt64(wanted % head.0) &* 4), index >= head.1 else {
            return []
        }
        var found: [UInt64] = []
        while let hash: UInt32 = memory.load(hashes &+ UInt64(index - head.1) &* 4) {
            if hash | 1 == wanted | 1, let symbol: Symbol = memory.load(symbols &+ UInt64(index) &* 24),
                symbol.isDefined, memory.text(strings &+ UInt64(symbol.name), most: 128) == name
            {
                found.append(bias &+ symbol.value)
            }
            if hash & 1 != 0 { break }
            index += 1
        }
        return found
    }

    // R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, and R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT.
    #if arch(x86_64)
        private static let plain: UInt32 = 1, global: UInt32 = 6, jump: UInt32 = 7
    #else
        private static let plain: UInt32 = 257, global: UInt32 = 1025, jump: UInt32 = 1026
    #endif

    /// The slots for symbols of these names.
    ///
    /// - Complexity: O(relocations).
    func slots(for names: Set<String>, _ memory: ProcessMemory) -> [Slot] {
        var found: [(relocation: Relocation, symbol: Int)] = []
        for table in tables {
            let count = Int(clamping: table.size / UInt64(MemoryLayout<Relocation>.stride))
            for relocation in memory.array(table.address, count: count, of: Relocation.self) ?? [] {
                let kind = UInt32(truncatingIfNeeded: relocation.info)
                guard kind == Self.plain || kind == Self.global || kind == Self.jump, relocation.addend == 0 else {
                    continue
                }
                found.append((relocation, Int(relocation.info >> 32)))
            }
        }
        guard let last = found.map(\.symbol).max(), last < 1 << 24,
            let symbols = memory.array(self.symbols, count: last + 1, of: Symbol.self),
            let strings = memory.array(self.strings, count: stringsSize, of: UInt8.self)
        else { return [] }
        var known: [Int: String?] = [:]
        return found.compactMap { relocation, index in
            let name =
                known[index]
                ?? {
                    let text = strings.dropFirst(Int(symbols[index].name)).prefix(64).prefix { $0 != 0 }
                    let name = String(decoding: text, as: UTF8.self)
                    return names.contains(name) ? name : nil
                }()
            known[index] = .some(name)
            guard let name else { return nil }
            return Slot(
                address: bias &+ relocation.offset, name: name,
                isLazy: UInt32(truncatingIfNeeded: relocation.info) == Self.jump)
        }
    }
}
