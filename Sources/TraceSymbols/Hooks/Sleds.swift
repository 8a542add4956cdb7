internal import CElfutils

/// The sleds of an executable or library: places in its code that `fathom build --dormant` left for hooks. The list of
/// them is LLVM's (xray_instr_map, version 2); a note that Fathom links in tells that the product's sleds can be opened.
public struct Sleds: Sendable {
    public enum Kind: UInt8, Sendable {
        case enter = 0
        case exit = 1
        case tail = 2
        case enterWithArguments = 3
    }

    public struct Sled: Sendable {
        /// In the file, as its symbols are.
        public var address: UInt64
        /// Where its function begins.
        public var function: UInt64
        public var kind: Kind
        /// Where the sled is among the bytes of the file.
        public var offset: Int64

        var isEntry: Bool { kind == .enter || kind == .enterWithArguments }
    }

    /// In the order of the list: those of a function follow each other.
    public let all: [Sled]

    /// Where the code lies through which open sleds lead to the runtime; nil when the file has no sleds.
    public let stubs: UInt64?
    private let path: String

    /// The addresses of sleds, with the bytes that the file has there.
    public var bytes: [(address: UInt64, bytes: [UInt8])] {
        guard let file = try? ELFFile(path: path) else { return [] }
        return all.compactMap { sled in
            guard let data = elf_getdata_rawchunk(file.handle, sled.offset, Self.length, ELF_T_BYTE),
                let bytes = data.pointee.d_buf, data.pointee.d_size == Self.length
            else { return nil }
            return (sled.address, Array(UnsafeRawBufferPointer(start: bytes, count: Self.length)))
        }
    }

    /// - Throws: ``SymbolProblem`` when the file cannot be read.
    public init(path: String) throws(SymbolProblem) {
        self.init(try ELFFile(path: path))
    }

    /// The beginnings of the functions that have sleds.
    var functions: [UInt64] { all.filter(\.isEntry).map(\.function) }
    /// The sleds there.
    var entries: [UInt64] { all.filter(\.isEntry).map(\.address) }

    init(_ file: borrowing ELFFile) {
        path = file.path
        stubs = file.sledStubs
        guard file.hasSleds, let section = file.section(named: "xray_instr_map"), let data = section.data else {
            all = []
            return
        }
        let bytes = UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
        let segments = file.segments.filter { $0.p_type == UInt32(PT_LOAD) }
        var all: [Sled] = []
        for start in stride(from: 0, to: bytes.count - bytes.count % Self.size, by: Self.size) {
            let place = section.header.sh_addr &+ UInt64(start)
            let address = place &+ UInt64(bitPattern: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
            let function =
                place &+ 8 &+ UInt64(bitPattern: bytes.loadUnaligned(fromByteOffset: start + 8, as: Int64.self))
            guard bytes[start + 18] == Self.version, let kind = Kind(rawValue: bytes[start + 16]),
                let segment = segments.first(where: { address >= $0.p_vaddr && address - $0.p_vaddr < $0.p_filesz })
            else { continue }
            all.append(
                Sled(
                    address: address, function: function, kind: kind,
                    offset: Int64(bitPattern: segment.p_offset &+ (address - segment.p_vaddr))))
        }
        self.all = all
    }

    private static let size = 32
    /// How long a sled is.
    private static let length = 11
    private static let version: UInt8 = 2
}

extension ELFFile {
    /// Whether `fathom build --dormant` linked it.
    var hasSleds: Bool { note(owner: "FathomSleds", type: 1) != nil }

    /// Where its stubs lie: the third of the note's words tells that from its own place.
    fileprivate var sledStubs: UInt64? {
        guard let (address, bytes) = placedNote(owner: "FathomSleds", type: 1), bytes.count >= 24 else { return nil }
        let distance = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
        return address &+ 16 &+ distance
    }
}
