internal import CElfutils

/// Knows where the functions of a module were defined: the concrete subprograms of DWARF, by address.
struct FunctionLines {
    private struct Function {
        var start: UInt64
        var end: UInt64
        var file: UInt32
        var line: UInt32
        var isInlined: Bool
    }

    private var functions: [Function] = []
    /// Linkage names of Swift functions that were inlined. Swift's compiler does not tie them to their own code.
    private(set) var inlinedSwiftNames: Set<String> = []
    /// The first file that holds split DWARF and cannot be read, and how many there are.
    private(set) var missing: (name: String, count: Int)?
    private var files = SourceFiles()
    /// Where the compiler ran for the unit that is being read.
    private var directory: String?
    /// The file table of the unit that a file was looked up in last.
    private var fileTable = FileTable()

    private struct FileTable {
        var unit: OpaquePointer?
        var files: OpaquePointer?
        var version: Dwarf_Half = 0
        var directory: String?
    }

    /// Scopes that are nested deeper than this are damage: no compiler writes them.
    private static let depthLimit = 100

    /// Reads every compile unit or, given ascending addresses, those that may hold one. O(DIEs of the scopes that may hold
    /// functions).
    ///
    /// - Parameter functions: those of the addresses, ascending, of which functions are asked for. Where they are all found beside
    ///   each other, nothing is looked for within types and other functions, where few are and most of the DIEs.
    init(
        _ units: borrowing DWARFUnits, code: [Range<UInt64>], covering wanted: [UInt64]? = nil,
        functions asked: [UInt64]? = nil
    ) {
        units.forEach(covering: wanted) { unit, content in
            directory = DWARFUnits.directory(of: &unit)
            if let name = DWARFUnits.splitFile(of: &unit), unit.addr == content.addr {
                missing = (missing?.name ?? name, (missing?.count ?? 0) + 1)
            }
            let first = functions.count
            visitChildren(of: &content, code: code, depth: 0, entersFunctions: asked == nil)
            if let asked, misses(asked, of: &unit, from: first) {
                functions.removeLast(functions.count - first)
                visitChildren(of: &content, code: code, depth: 0)
            }
        }
        functions.sort { $0.start < $1.start }
        files.finish()
        (fileTable, directory) = (FileTable(), nil)
    }

    /// File and line of the definition of the function that covers `address`. O(log n).
    func lookup(_ address: UInt64) -> (file: String, line: Int)? {
        guard let function = function(at: address) else { return nil }
        return (files.paths[Int(function.file)], Int(function.line))
    }

    /// Whether the code of the function that covers `address` was also put into others. O(log n).
    func isInlined(_ address: UInt64) -> Bool { function(at: address)?.isInlined ?? false }

    private func function(at address: UInt64) -> Function? {
        let index = functions.partitioningIndex { $0.start > address } - 1
        return index >= 0 && address < functions[index].end ? functions[index] : nil
    }

    /// Whether one of these addresses is a unit's, and none of the functions from `first` on has it.
    private func misses(_ asked: [UInt64], of unit: inout Dwarf_Die, from first: Int) -> Bool {
        let found = functions[first...].sorted { $0.start < $1.start }
        func isFound(_ address: UInt64) -> Bool {
            let index = found.partitioningIndex { $0.start > address } - 1
            return index >= 0 && address < found[index].end
        }
        var (base, start, end) = (Dwarf_Addr(0), Dwarf_Addr(0), Dwarf_Addr(0))
        var offset = dwarf_ranges(&unit, 0, &base, &start, &end)
        if offset <= 0 { return true }
        while offset > 0 {
            var index = asked.partitioningIndex { $0 >= start }
            while index < asked.count, asked[index] < end {
                if !isFound(asked[index]) { return true }
                index += 1
            }
            offset = dwarf_ranges(&unit, offset, &base, &start, &end)
        }
        return offset < 0
    }

    private mutating func visitChildren(
        of parent: inout Dwarf_Die, code: [Range<UInt64>], depth: Int, entersFunctions: Bool = true
    ) {
        var child = Dwarf_Die()
        guard depth < Self.depthLimit, dwarf_child(&parent, &child) == 0 else { return }
        var address: UnsafeMutableRawPointer?
        repeat {
            let tag = Int(dwarf_tag(&child))
            if tag == DW_TAG_subprogram { append(&child, code: code) }
            if entersFunctions ? Self.mayHoldFunctions(tag) : tag == DW_TAG_namespace || tag == DW_TAG_module {
                visitChildren(of: &child, code: code, depth: depth + 1, entersFunctions: entersFunctions)
            }
            address = child.addr
            // A damaged sibling reference may point backwards.
        } while withUnsafeMutablePointer(to: &child) { dwarf_siblingof($0, $0) } == 0 && child.addr > address!
    }

    /// Local classes and nested functions are described inside the function around them.
    private static func mayHoldFunctions(_ tag: Int) -> Bool {
        switch tag {
        case DW_TAG_subprogram, DW_TAG_lexical_block, DW_TAG_namespace, DW_TAG_module, DW_TAG_structure_type,
            DW_TAG_class_type, DW_TAG_union_type, DW_TAG_enumeration_type, DW_TAG_interface_type:
            true
        default: false
        }
    }

    /// Adds the code ranges of a subprogram; one that has none is a declaration, or was inlined or discarded.
    private mutating func append(_ die: inout Dwarf_Die, code: [Range<UInt64>]) {
        var (base, start, end) = (Dwarf_Addr(0), Dwarf_Addr(0), Dwarf_Addr(0))
        var offset = dwarf_ranges(&die, 0, &base, &start, &end)
        guard offset > 0 else {
            if Self.isInlined(&die), let name = Self.swiftName(of: &die) { inlinedSwiftNames.insert(name) }
            return
        }
        var line: Int32 = 0
        guard dwarf_decl_line(&die, &line) == 0, line > 0 else { return }
        let source = sourceFile(of: &die)
        let file = files.index(of: source, in: fileTable.directory)
        guard file != SourceFiles.none else { return }
        let isInlined = Self.isInlined(&die)
        while offset > 0 {
            // Linkers point discarded functions at 0 or at the end of the address space.
            if start < end, code.contains(where: { $0.contains(start) }) {
                functions.append(Function(start: start, end: end, file: file, line: UInt32(line), isInlined: isInlined))
            }
            offset = dwarf_ranges(&die, offset, &base, &start, &end)
        }
    }

    /// Whether there is an instance of a subprogram in another one (DWARF 5, 3.3.8.1).
    private static func isInlined(_ die: inout Dwarf_Die) -> Bool {
        var attribute = Dwarf_Attribute()
        var value = Dwarf_Word(0)
        guard dwarf_attr_integrate(&die, UInt32(DW_AT_inline), &attribute) != nil,
            dwarf_formudata(&attribute, &value) == 0
        else { return false }
        return value == Dwarf_Word(DW_INL_inlined) || value == Dwarf_Word(DW_INL_declared_inlined)
    }

    private static func swiftName(of die: inout Dwarf_Die) -> String? {
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&die, UInt32(DW_AT_linkage_name), &attribute) != nil,
            let name = dwarf_formstring(&attribute), name[0] == CChar(UInt8(ascii: "$"))
        else { return nil }
        return String(cString: name)
    }

    /// The path in DW_AT_decl_file, which is an index into the file table of the unit it is written in.
    ///
    /// `dwarf_decl_file` takes 0 for no file, but since DWARF 5 index 0 is the unit's own source.
    private mutating func sourceFile(of die: inout Dwarf_Die) -> UnsafePointer<CChar>? {
        var attribute = Dwarf_Attribute()
        var number = Dwarf_Word(0)
        guard dwarf_attr_integrate(&die, UInt32(DW_AT_decl_file), &attribute) != nil,
            dwarf_formudata(&attribute, &number) == 0, let unit = attribute.cu
        else { return nil }
        if unit != fileTable.unit {
            var root = Dwarf_Die()
            fileTable = FileTable(unit: unit, directory: directory)
            guard dwarf_cu_die(unit, &root, &fileTable.version, nil, nil, nil, nil, nil) != nil else { return nil }
            dwarf_getsrcfiles(&root, &fileTable.files, nil)
            fileTable.directory = DWARFUnits.directory(of: &root) ?? directory
        }
        guard let files = fileTable.files, number > 0 || fileTable.version >= 5 else { return nil }
        return dwarf_filesrc(files, Int(clamping: number), nil, nil)
    }
}
