internal import CElfutils

/// The functions of one ELF module: names from its symbol table, places from its DWARF.
///
/// File addresses are addresses in memory minus the module's load bias. Nothing is read before the first question:
/// names cost the symbol table, definitions a pass over DWARF's functions, locations the line table. Each is read once into
/// a sorted table and the file is closed again. Damaged files answer as if they knew nothing. For one thread at a time.
public final class ModuleSymbols {
    private let path: String
    private let buildID: [UInt8]
    private let debugFile: DebugFile

    /// - Parameters:
    ///   - path: of the module's file, as it was mapped.
    ///   - buildID: of the module as it ran; empty when it had none.
    ///   - debugRoots: where separate debug information is installed.
    public init(path: String, buildID: [UInt8], debugRoots: [String] = ["/usr/lib/debug"]) {
        self.path = path
        self.buildID = buildID
        debugFile = DebugFile(roots: debugRoots)
    }

    /// Why there are no names, or nil. Reads the symbol table.
    public var problem: SymbolProblem? { contents.problem }

    /// The function that covers `fileAddress`.
    ///
    /// - Parameter lines: whether file and line of the definition are wanted; they cost a pass over DWARF once.
    /// - Complexity: O(log n) after the tables are built; demangles the name each time.
    public func symbol(at fileAddress: UInt64, lines: Bool = true) -> Symbol {
        guard let found = contents.table?.lookup(fileAddress) else {
            let module = path.split(separator: "/").last.map(String.init) ?? path
            let name = "\(module)+0x\(String(fileAddress, radix: 16))"
            return Symbol(name: name, linkageName: name, file: nil, line: 0, start: fileAddress, isKnown: false)
        }
        return symbol(found, at: fileAddress, lines: lines)
    }

    /// File and line of the instruction that contains `fileAddress`; for a return address, pass the byte before it.
    ///
    /// - Complexity: O(log n) after the line table is built.
    public func location(at fileAddress: UInt64) -> (file: String, line: Int)? {
        guard let lineTable else { return nil }
        // Without a symbol the row has to be right at the address or before it.
        let function = contents.table?.extent(around: fileAddress) ?? 0..<fileAddress &+ 1
        return lineTable.lookup(fileAddress, in: function)
    }

    /// All functions by ascending address, or nil when there is a ``problem``.
    public func functions(lines: Bool = true) -> [Symbol]? {
        contents.table?.all.map { symbol($0, at: $0.start, lines: lines) }
    }

    private func symbol(_ found: (start: UInt64, linkageName: String), at address: UInt64, lines: Bool) -> Symbol {
        var symbol = Symbol(
            name: demangle(found.linkageName), linkageName: found.linkageName, file: nil, line: 0, start: found.start,
            isKnown: true)
        // Assembly has lines but no subprograms.
        if lines, let place = functionLines?.lookup(address) ?? location(at: found.start) {
            symbol.file = place.file
            symbol.line = place.line
        }
        return symbol
    }

    private struct Contents {
        var table: SymbolTable?
        /// The file that holds the DWARF, if any does.
        var dwarfPath: String?
        var problem: SymbolProblem?
    }

    private lazy var contents = read()
    private lazy var functionLines = readDWARF { FunctionLines($0) }
    private lazy var lineTable = readDWARF { LineTable($0) }

    private func read() -> Contents {
        var contents = Contents()
        do throws(SymbolProblem) {
            let file = try ELFFile(path: path)
            guard buildID.isEmpty || file.buildID == buildID else { throw .rebuilt(path) }
            contents.table = SymbolTable(file, type: SHT_SYMTAB)
            contents.dwarfPath = file.hasDWARF ? path : nil
            if contents.table == nil || contents.dwarfPath == nil, let debugPath = debugFile.find(for: file),
                let debug = try? ELFFile(path: debugPath)
            {
                contents.table = contents.table ?? SymbolTable(debug, type: SHT_SYMTAB)
                contents.dwarfPath = contents.dwarfPath ?? (debug.hasDWARF ? debugPath : nil)
            }
            contents.table = contents.table ?? SymbolTable(file, type: SHT_DYNSYM)
            if contents.table == nil { throw .noSymbols(path) }
        } catch {
            contents.problem = error
        }
        return contents
    }

    private func readDWARF<Table>(_ read: (borrowing ELFFile) -> Table) -> Table? {
        guard let path = contents.dwarfPath, let file = try? ELFFile(path: path) else { return nil }
        return read(file)
    }
}
