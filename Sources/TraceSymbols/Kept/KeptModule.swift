/// What is kept of a module's symbols and lines, for when its file is gone: the answers of ``ModuleSymbols`` to what is asked of
/// certain addresses. Addresses are those in the file.
public struct KeptModule: Sendable {
    /// What holds of the module as a whole.
    struct Facts: OptionSet, Sendable {
        let rawValue: UInt8

        static let hasSwiftCode = Facts(rawValue: 1)
        /// Local functions have names, too.
        static let namesLocals = Facts(rawValue: 2)
        static let hasLines = Facts(rawValue: 4)
        static let hasSymbols = Facts(rawValue: 8)
        /// ``KeptModule/rows`` are all rows of the line table that matter, and not the answers for single addresses.
        static let hasAllRows = Facts(rawValue: 16)
        /// Some debug information was in files that were not there.
        static let lacksSplitFiles = Facts(rawValue: 32)
        /// They are in a package, which libdw could not read.
        static let hasSplitPackage = Facts(rawValue: 64)
    }

    /// Addresses that belong to one function.
    struct Stretch: Sendable, Equatable {
        var start: UInt64
        var end: UInt64
        /// Where the function begins.
        var function: UInt64
        /// Where its linkage name is among ``KeptModule/names``; nothing stands there where no symbol covers the addresses.
        var name: UInt32
        /// Index in ``KeptModule/files``; ``SourceFiles/none`` for none.
        var file: UInt32
        var line: UInt32
        var traits: Traits
    }

    /// What the code of a Swift function tells beyond its name.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8

        /// It is the beginning of a function that is divided into parts.
        static let isDivided = Traits(rawValue: 1)
        /// It does no more than call the function that it leads to.
        static let onlyLeads = Traits(rawValue: 2)
        /// The same where the parts of functions that may suspend have one name.
        static let onlyLeadsJoined = Traits(rawValue: 4)
    }

    /// A line that an address comes from or, of all rows, that holds up to the next row.
    struct Row: Sendable, Equatable {
        var address: UInt64
        /// ``SourceFiles/none``: no line is known.
        var file: UInt32
        var line: UInt32
    }

    /// An address in a variable.
    struct Variable: Sendable, Equatable {
        var address: UInt64
        var name: UInt32
        var offset: UInt64
    }

    /// What the dynamic linker had to do for the module when its program started.
    public struct Linkage: Sendable, Equatable {
        /// The number of relocations of each kind.
        public var relocations: [DynamicLinkage.Kind: UInt64]
        /// Whether it is a library that the program names and nothing refers to.
        public var isUnused: Bool

        public init(relocations: [DynamicLinkage.Kind: UInt64], isUnused: Bool) {
            self.relocations = relocations
            self.isUnused = isUnused
        }
    }

    public let path: String
    public let buildID: [UInt8]
    /// nil where nobody asked.
    public var linkage: Linkage?
    var facts: Facts = []
    /// By ascending address, without overlaps.
    var stretches: [Stretch] = []
    /// By ascending address.
    var rows: [Row] = []
    /// By ascending address.
    var variables: [Variable] = []
    var files: [String] = []
    /// Names, each with a 0 behind it. The first is empty.
    var names: [UInt8] = [0]

    /// A module of which nothing is kept yet.
    public init(path: String, buildID: [UInt8]) {
        self.path = path
        self.buildID = buildID
    }

    /// Whether it holds Swift code.
    public var hasSwiftCode: Bool { facts.contains(.hasSwiftCode) }

    /// Whether no file could tell more: there were local names, and lines.
    var isRich: Bool { facts.isSuperset(of: [.namesLocals, .hasLines]) && !facts.contains(.lacksSplitFiles) }

    /// Whether nothing is kept of any address.
    public var isEmpty: Bool { stretches.isEmpty && rows.isEmpty && variables.isEmpty && linkage == nil }

    /// What is known of `address`; nil where nobody asked for it. O(log n).
    func stretch(at address: UInt64) -> Stretch? {
        let index = stretches.partitioningIndex { $0.start > address } - 1
        return index >= 0 && address < stretches[index].end ? stretches[index] : nil
    }

    /// The line of the instruction that contains `address`; `nil` where that was not asked for, and `.some(nil)` where it is
    /// known that there is none. O(log n).
    func location(at address: UInt64) -> (file: String, line: Int)?? {
        let next = rows.partitioningIndex { $0.address > address }
        guard facts.contains(.hasAllRows) else {
            guard next > 0, rows[next - 1].address == address else { return nil }
            return .some(place(rows[next - 1].file, rows[next - 1].line))
        }
        let stretch = stretch(at: address)
        let function = stretch.map { min($0.function, $0.start)..<$0.end } ?? address..<address &+ 1
        for index in [next - 1, next] where rows.indices.contains(index) {
            let row = rows[index]
            if row.file != SourceFiles.none, function.contains(row.address) { return .some(place(row.file, row.line)) }
        }
        return .some(nil)
    }

    func place(_ file: UInt32, _ line: UInt32) -> (file: String, line: Int)? {
        file == SourceFiles.none ? nil : (files[Int(file)], Int(line))
    }

    /// The variable at `address`, and how far into it that is; nil where nobody asked, or no variable has a name. O(log n).
    func variable(at address: UInt64) -> (linkageName: String, offset: UInt64)? {
        let index = variables.partitioningIndex { $0.address >= address }
        guard index < variables.count, variables[index].address == address else { return nil }
        return (name(variables[index].name), variables[index].offset)
    }

    /// The name at a place of ``names``.
    func name(_ place: UInt32) -> String {
        names[Int(place)...].withUnsafeBufferPointer { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Adds a name, and returns its place.
    mutating func add(name: String) -> UInt32 {
        if name.isEmpty { return 0 }
        let place = UInt32(names.count)
        names += name.utf8
        names.append(0)
        return place
    }
}
