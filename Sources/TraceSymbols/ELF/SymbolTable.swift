internal import CElfutils
internal import Glibc

/// The functions of one symbol table, by address.
///
/// Overlapping symbols are flattened when the table is built, so that a lookup is one binary search. An address belongs
/// to the innermost symbol with a size around it; a symbol without a size, as assembly has, reaches to the next one.
struct SymbolTable {
    /// Ends of ranges are exclusive; `starts` ascends and ranges do not overlap.
    private var starts: [UInt64] = []
    private var ends: [UInt64] = []
    /// The symbol that each range belongs to, as an index into `symbols`.
    private var owners: [UInt32] = []
    private var symbols: [Entry] = []
    /// The file's string table, which `Entry.name` points into.
    private var names: [UInt8] = []

    private struct Entry {
        var start: UInt64
        var end: UInt64
        /// The end of the section, up to which a symbol without a size may reach.
        var limit: UInt64
        var name: UInt32
        /// Lower is better; see ``SymbolTable/rank(_:)``.
        var rank: UInt8
        var isSized: Bool { end > start }
    }

    var isEmpty: Bool { symbols.isEmpty }

    /// Reads `.symtab` or `.dynsym`.
    ///
    /// - Parameters:
    ///   - type: `SHT_SYMTAB` or `SHT_DYNSYM`.
    ///   - chosen: where code goes on in functions that resolvers choose; these have the functions' names.
    ///   - wanted: ascending addresses; given, nothing is said of others.
    /// - Returns: nil when the file has no such table or it names no function.
    /// - Complexity: O(n log n) in the table's symbols; where there are few wanted addresses, O(n).
    init?(
        _ file: borrowing ELFFile, type: Int32, chosen: [UInt64: [Range<UInt64>]] = [:], around wanted: [UInt64]? = nil
    ) {
        var found: [Entry] = []
        read(file, type, chosen, &found)
        if !finish(&found, around: wanted) { return nil }
    }

    /// The same of a table that leaves out what `other` has in `.dynsym`.
    init?(
        _ file: borrowing ELFFile, type: Int32, chosen: [UInt64: [Range<UInt64>]], around wanted: [UInt64]?,
        and other: borrowing ELFFile
    ) {
        var found: [Entry] = []
        read(file, type, chosen, &found)
        if found.isEmpty { return nil }
        read(other, SHT_DYNSYM, chosen, &found)
        if !finish(&found, around: wanted) { return nil }
    }

    /// - Returns: Whether there is any function.
    private mutating func finish(_ found: inout [Entry], around wanted: [UInt64]?) -> Bool {
        if found.isEmpty { return false }
        if let wanted { Self.leave(wanted, in: &found) }
        select(from: &found)
        flatten()
        return true
    }

    private mutating func read(
        _ file: borrowing ELFFile, _ type: Int32, _ chosen: [UInt64: [Range<UInt64>]], _ found: inout [Entry]
    ) {
        guard let section = file.section(type: type), let data = section.data,
            let strings = file.section(index: Int(section.header.sh_link))?.data,
            let entrySize = Optional(gelf_fsize(file.handle, ELF_T_SYM, 1, UInt32(EV_CURRENT))), entrySize > 0
        else { return }
        let first = UInt32(clamping: names.count)
        names += UnsafeRawBufferPointer(start: strings.pointee.d_buf, count: strings.pointee.d_size)
        // In a damaged table a name may run past the end: this zero ends it there.
        names.append(0)
        let sections = SectionLimits(file)
        let count = min(data.pointee.d_size / entrySize, Int(Int32.max))
        found.reserveCapacity(found.count + count)
        var symbol = GElf_Sym()
        for index in 0..<count where gelf_getsym(data, Int32(index), &symbol) != nil {
            symbol.st_name = symbol.st_name.addingReportingOverflow(first).partialValue
            if let entry = Self.entry(symbol, sections: sections), entry.name >= first, entry.name < names.count,
                names[Int(entry.name)] != 0, names[Int(entry.name)] != UInt8(ascii: "$") || symbol.isFunction
            {
                found.append(entry)
                guard Int32(symbol.st_info & 0xf) == STT_GNU_IFUNC else { continue }
                for place in chosen[symbol.st_value] ?? [] {
                    var entry = entry
                    (entry.start, entry.end, entry.limit) = (place.lowerBound, place.upperBound, place.upperBound)
                    found.append(entry)
                }
            }
        }
    }

    /// The symbol that covers `address`. O(log n).
    func lookup(_ address: UInt64) -> (start: UInt64, linkageName: String)? {
        guard let index = range(around: address) else { return nil }
        let symbol = symbols[Int(owners[index])]
        return (symbol.start, name(symbol))
    }

    /// From the start of the symbol that covers `address` to the end of its range there. O(log n).
    func extent(around address: UInt64) -> Range<UInt64>? {
        range(around: address).map { symbols[Int(owners[$0])].start..<ends[$0] }
    }

    /// The addresses around `address` that belong to one symbol, with its start and name; nil where there is none. O(log n).
    func stretch(around address: UInt64) -> (range: Range<UInt64>, start: UInt64, linkageName: String)? {
        range(around: address).map { stretch(at: $0) }
    }

    /// All stretches of the symbols, by ascending address.
    var stretches: some RandomAccessCollection<(range: Range<UInt64>, start: UInt64, linkageName: String)> {
        starts.indices.lazy.map(stretch)
    }

    private func stretch(at index: Int) -> (range: Range<UInt64>, start: UInt64, linkageName: String) {
        let symbol = symbols[Int(owners[index])]
        return (starts[index]..<ends[index], symbol.start, name(symbol))
    }

    private func range(around address: UInt64) -> Int? {
        let index = starts.partitioningIndex { $0 > address } - 1
        return index >= 0 && address < ends[index] ? index : nil
    }

    /// Every function once, by ascending address.
    var all: [(start: UInt64, linkageName: String)] { symbols.map { ($0.start, name($0)) } }

    /// For each place of `infix` in a name, the part of that name before it. O(bytes of names).
    func names(before infix: String) -> Set<String> {
        var found: Set<String> = []
        names.withUnsafeBytes { bytes in
            for symbol in symbols {
                let name = (bytes.baseAddress! + Int(symbol.name)).assumingMemoryBound(to: CChar.self)
                var rest = name
                while let hit = UnsafePointer(strstr(rest, infix)) {
                    found.insert(
                        String(decoding: UnsafeRawBufferPointer(start: name, count: hit - name), as: UTF8.self))
                    rest = hit + 1
                }
            }
        }
        return found
    }

    private func name(_ symbol: Entry) -> String {
        names[Int(symbol.name)...].withUnsafeBufferPointer { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Leaves the symbols that decide about these addresses: those around each, the nearest before and behind it, and those
    /// around the nearest before it, which may be a label in them.
    private static func leave(_ wanted: [UInt64], in found: inout [Entry]) {
        var before = [UInt64](repeating: 0, count: wanted.count)
        var behind = [UInt64](repeating: .max, count: wanted.count)
        for entry in found {
            let next = wanted.partitioningIndex { $0 >= entry.start }
            if next < wanted.count { before[next] = max(before[next], entry.start) }
            if next > 0 { behind[next - 1] = min(behind[next - 1], entry.start) }
        }
        for index in before.indices.dropFirst() { before[index] = max(before[index], before[index - 1]) }
        for index in behind.indices.dropLast().reversed() { behind[index] = min(behind[index], behind[index + 1]) }
        let points = (wanted + before).sorted(), starts = Set(before + behind)
        found.removeAll { entry in
            if starts.contains(entry.start) { return false }
            let next = points.partitioningIndex { $0 >= entry.start }
            return !(next < points.count && points[next] < entry.end)
        }
    }

    private static func entry(_ symbol: GElf_Sym, sections: SectionLimits) -> Entry? {
        let isFunction = symbol.isFunction
        guard isFunction || symbol.st_info & 0xf == UInt8(STT_NOTYPE), symbol.st_shndx != UInt16(SHN_UNDEF),
            let limit = sections.codeLimit(of: symbol)
        else { return nil }
        let (end, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
        return Entry(
            start: symbol.st_value, end: overflow ? symbol.st_value : end, limit: limit, name: symbol.st_name,
            rank: rank(symbol))
    }

    /// Of several names for one address, a typed symbol's wins, then a sized one's, then those that are not local. Of
    /// these, fewer leading underscores win, then global over weak.
    /// An IFUNC has the name of the function that its resolver chooses, but the code at its address is the resolver,
    /// whose own name wins.
    private static func rank(_ symbol: GElf_Sym) -> UInt8 {
        let typeRank: UInt8 =
            switch Int32(symbol.st_info & 0xf) {
            case STT_FUNC: 0
            case STT_GNU_IFUNC: 8
            default: 16
            }
        let bindingRank: UInt8 =
            switch Int32(symbol.st_info >> 4) {
            case STB_GLOBAL: 0
            case STB_WEAK: 1
            default: 2
            }
        return typeRank + (symbol.st_size > 0 ? 0 : 4) + bindingRank
    }

    /// Sorts by address and keeps the best symbol of each address.
    private mutating func select(from found: inout [Entry]) {
        names.withUnsafeBufferPointer { names in
            found.sort { left, right in
                if left.start != right.start { return left.start < right.start }
                // The C library's functions are weak, and have the same name with underscores that is global.
                if left.rank | 1 != right.rank | 1 { return left.rank < right.rank }
                let order = Self.compare(names, left.name, right.name)
                if order != 0, left.rank != right.rank,
                    Self.underscores(names, left.name) == Self.underscores(names, right.name)
                {
                    return left.rank < right.rank
                }
                return order != 0 ? order < 0 : left.end > right.end
            }
        }
        symbols.reserveCapacity(found.count)
        for entry in found where symbols.last?.start != entry.start { symbols.append(entry) }
    }

    private static func underscores(_ names: UnsafeBufferPointer<UInt8>, _ name: UInt32) -> Int {
        names[Int(name)...].prefix { $0 == UInt8(ascii: "_") }.count
    }

    /// Orders names of equal rank: fewer leading underscores first, then by bytes.
    private static func compare(_ names: UnsafeBufferPointer<UInt8>, _ left: UInt32, _ right: UInt32) -> Int {
        let (a, b) = (names[Int(left)...].prefix { $0 != 0 }, names[Int(right)...].prefix { $0 != 0 })
        let difference = underscores(names, left) - underscores(names, right)
        if difference != 0 { return difference }
        if a.elementsEqual(b) { return 0 }
        return a.lexicographicallyPrecedes(b) ? -1 : 1
    }

    /// Turns symbols, which may nest, into ranges, which do not. O(n).
    private mutating func flatten() {
        starts.reserveCapacity(symbols.count)
        ends.reserveCapacity(symbols.count)
        owners.reserveCapacity(symbols.count)
        // Labels inside a sized function are part of it.
        var sizedEnd: UInt64 = 0
        symbols.removeAll { symbol in
            if !symbol.isSized { return symbol.start < sizedEnd }
            sizedEnd = max(sizedEnd, symbol.end)
            return false
        }
        var open: [(owner: UInt32, end: UInt64)] = []
        var position: UInt64 = 0
        for (index, symbol) in symbols.enumerated() {
            close(&open, at: symbol.start, from: &position)
            if let outer = open.last { append(position, symbol.start, outer.owner) }
            let next = index + 1 < symbols.count ? symbols[index + 1].start : .max
            open.append((UInt32(index), symbol.isSized ? symbol.end : min(next, symbol.limit)))
            position = symbol.start
        }
        close(&open, at: .max, from: &position)
    }

    /// Adds ranges for what is left of the symbols that end at or before `address`.
    private mutating func close(
        _ open: inout [(owner: UInt32, end: UInt64)], at address: UInt64, from position: inout UInt64
    ) {
        while let innermost = open.last, innermost.end <= address {
            append(position, innermost.end, innermost.owner)
            position = max(position, innermost.end)
            open.removeLast()
        }
    }

    private mutating func append(_ start: UInt64, _ end: UInt64, _ owner: UInt32) {
        guard start < end else { return }
        starts.append(start)
        ends.append(end)
        owners.append(owner)
    }
}

/// Knows where the file's executable sections end.
private struct SectionLimits {
    /// By section index; 0 for a section that holds no code.
    private var ends: [UInt64] = [0]
    private var codeRanges: [Range<UInt64>]

    init(_ file: borrowing ELFFile) {
        var section: OpaquePointer?
        while let next = elf_nextscn(file.handle, section) {
            section = next
            var header = GElf_Shdr()
            let holdsCode = gelf_getshdr(next, &header) != nil && header.sh_flags & UInt64(SHF_EXECINSTR) != 0
            ends.append(holdsCode ? header.sh_addr &+ header.sh_size : 0)
        }
        codeRanges = file.codeRanges
    }

    /// The end of the code section that holds the symbol; nil when that is no code.
    func codeLimit(of symbol: GElf_Sym) -> UInt64? {
        let index = Int(symbol.st_shndx)
        if index < ends.count { return ends[index] > symbol.st_value ? ends[index] : nil }
        // There are more sections than the field can count, so the segment decides.
        guard symbol.st_shndx == UInt16(SHN_XINDEX) else { return nil }
        return codeRanges.first { $0.contains(symbol.st_value) }?.upperBound
    }
}

extension GElf_Sym {
    fileprivate var isFunction: Bool {
        let type = Int32(st_info & 0xf)
        return type == STT_FUNC || type == STT_GNU_IFUNC
    }
}

extension Array {
    /// The first index whose element satisfies `belongsInSecondPartition`, which holds from there on. O(log n).
    func partitioningIndex(where belongsInSecondPartition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if belongsInSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ELFFile {
    /// The symbols of the functions that begin at these addresses, and whether only their own object could name them.
    ///
    /// - Complexity: O(n) in the symbols.
    func functionSymbols(at addresses: Set<UInt64>) -> [UInt64: (name: String, isLocal: Bool)] {
        var found: [UInt64: (name: String, isLocal: Bool)] = [:]
        forEachFunction { symbol, name in
            guard addresses.contains(symbol.st_value) else { return }
            // The linker makes hidden symbols local, and they stay marked.
            let isLocal = Int32(symbol.st_info >> 4) == STB_LOCAL && Int32(symbol.st_other & 3) == STV_DEFAULT
            // Of a function with several, one that others know counts.
            if !isLocal || found[symbol.st_value] == nil { found[symbol.st_value] = (name, isLocal) }
        }
        return found
    }

    /// Where versions of functions begin that gcc has made for some of their callers. O(n) in the symbols.
    var functionClones: Set<UInt64> {
        var found: Set<UInt64> = []
        forEachFunction { symbol, name in
            if Self.marksOfClones.contains(where: name.contains) { found.insert(symbol.st_value) }
        }
        return found
    }

    /// Passes the symbols of functions and their names.
    ///
    /// - Parameter table: `SHT_SYMTAB` or `SHT_DYNSYM`; nil: the former or, where there is none, the latter.
    func forEachFunction(in table: Int32? = nil, _ body: (GElf_Sym, String) -> Void) {
        let section = table.map { self.section(type: $0) } ?? section(type: SHT_SYMTAB) ?? section(type: SHT_DYNSYM)
        guard let section, let data = section.data else { return }
        let size = gelf_fsize(handle, ELF_T_SYM, 1, UInt32(EV_CURRENT))
        guard size > 0 else { return }
        var symbol = GElf_Sym()
        for index in 0..<min(data.pointee.d_size / size, Int(Int32.max))
        where gelf_getsym(data, Int32(index), &symbol) != nil {
            guard symbol.isFunction,
                let name = elf_strptr(handle, Int(section.header.sh_link), Int(symbol.st_name))
            else { continue }
            body(symbol, String(cString: name))
        }
    }

    static let marksOfClones = [".isra", ".part", ".constprop"]
}
