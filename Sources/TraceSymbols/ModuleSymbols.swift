internal import CElfutils

/// The functions of one ELF module: names from its symbol table, places from its DWARF.
///
/// File addresses are addresses in memory minus the module's load bias. Nothing is read before the first question:
/// names need the symbol table, definitions a pass over DWARF's functions, and locations the line table. Each of these is
/// read once into a sorted table, and the file is closed again. A damaged file counts as one that holds nothing. Only one thread
/// at a time may use it.
public final class ModuleSymbols {
    private let path: String
    private let buildID: [UInt8]
    private let debugFile: DebugFile
    private let rawNames: Bool
    private let joinsParts: Bool

    /// - Parameters:
    ///   - path: of the module's file, as it was mapped.
    ///   - buildID: of the module as it ran; empty when it had none.
    ///   - debugRoots: where separate debug information is installed.
    ///   - symbolFiles: files with the symbols of stripped modules, or directories that hold some.
    ///   - rawNames: whether names are as demanglers give them, and every version of a function stands by itself.
    ///   - joinsParts: whether the parts of a function that may suspend all have its name and identity.
    public init(
        path: String, buildID: [UInt8], debugRoots: [String] = ["/usr/lib/debug"], symbolFiles: [String] = [],
        rawNames: Bool = false, joinsParts: Bool = false
    ) {
        self.rawNames = rawNames
        self.joinsParts = joinsParts
        self.path = path
        self.buildID = buildID
        debugFile = DebugFile(roots: debugRoots, named: symbolFiles)
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
            var symbol = Symbol(name: name, linkageName: name, file: nil, line: 0, start: fileAddress, isKnown: false)
            // In Swift code, a function without a symbol is one that only the compiler calls. In a stripped module,
            // functions that people wrote have no symbol either.
            symbol.isCompilerMade = !rawNames && contents.namesLocals && hasSwiftCode
            return symbol
        }
        return symbol(found, at: fileAddress, lines: lines)
    }

    /// Whether it holds Swift code. Only the section table is read.
    public private(set) lazy var hasSwiftCode: Bool = {
        guard let file = try? ELFFile(path: path) else { return false }
        return file.section { name, _ in name.hasPrefix("swift5_") } != nil
    }()

    /// ``Symbol/identity`` of the function that covers `fileAddress`.
    ///
    /// - Complexity: O(log n) after the table is built; demangles the name each time.
    public func identity(at fileAddress: UInt64) -> String? {
        guard !rawNames, let found = contents.table?.lookup(fileAddress) else { return nil }
        return swiftFunction(found.linkageName, start: found.start)?.identity
    }

    /// Which part of a Swift function that may suspend the code at `fileAddress` is, and the function's name; nil when
    /// it is none.
    ///
    /// - Complexity: O(log n) after the table is built.
    public func asyncPart(at fileAddress: UInt64) -> (part: SwiftAsyncPart, name: SwiftName?)? {
        guard let table = contents.table, let found = table.lookup(fileAddress) else { return nil }
        let name = found.linkageName
        guard let part = SwiftAsyncPart(linkageName: name) ?? (divided.contains(name) ? .start : nil) else {
            return nil
        }
        return (part, swiftFunction(name, start: found.start))
    }

    /// The name of the variable at `fileAddress`, with the offset in it where that is not 0; nil where no variable has a name.
    ///
    /// - Complexity: O(log n) after the table is built.
    public func variable(at fileAddress: UInt64) -> String? {
        guard let found = variables?.lookup(fileAddress) else { return nil }
        let name = demangle(found.linkageName, spoken: !rawNames)
        return found.offset == 0 ? name : "\(name)+\(found.offset)"
    }

    private lazy var variables: VariableTable? = {
        guard let file = try? openModule() else { return nil }
        return VariableTable(file)
    }()

    /// File and line of the instruction that contains `fileAddress`; for a return address, pass the byte before it.
    ///
    /// - Complexity: O(log n) after the line table is built.
    public func location(at fileAddress: UInt64) -> (file: String, line: Int)? {
        guard let lineTable else { return nil }
        // Without a symbol, only a row at the address or before it counts.
        let function = contents.table?.extent(around: fileAddress) ?? 0..<fileAddress &+ 1
        return lineTable.lookup(fileAddress, in: function)
    }

    /// How many of the lines `wanted` of `file` the code in `range` comes from.
    func lineCount(in range: Range<UInt64>, of file: String, among wanted: Range<Int>) -> Int {
        lineTable?.lineCount(in: range, of: file, among: wanted) ?? 0
    }

    /// Whether the code of a function was also put into others, as far as DWARF tells.
    func isInlined(_ function: Symbol) -> Bool {
        functionLines?.isInlined(function.start) ?? false
            || function.identity.map(inlinedSwiftFunctions.contains) ?? false
    }

    private lazy var inlinedSwiftFunctions = Set(
        (functionLines?.inlinedSwiftNames ?? []).compactMap { SwiftName($0)?.identity })

    /// All functions by ascending address, or nil when there is a ``problem``.
    public func functions(lines: Bool = true) -> [Symbol]? {
        contents.table?.all.map { symbol($0, at: $0.start, lines: lines) }
    }

    /// Whether some function's file and line are known.
    ///
    /// - Complexity: a pass over DWARF's functions; it demangles no name.
    public var hasLines: Bool { contents.table?.all.contains { place(of: $0.start, at: $0.start) != nil } ?? false }

    /// Where the function that begins at `start` is defined. Assembly has no subprograms, but lines.
    private func place(of start: UInt64, at address: UInt64) -> (file: String, line: Int)? {
        functionLines?.lookup(address) ?? location(at: start)
    }

    private func symbol(_ found: (start: UInt64, linkageName: String), at address: UInt64, lines: Bool) -> Symbol {
        var symbol = Symbol(
            name: "", linkageName: found.linkageName, file: nil, line: 0, start: found.start, isKnown: true)
        if !rawNames, let swift = swiftFunction(found.linkageName, start: found.start) {
            symbol.name = swift.name
            symbol.isSwift = true
            symbol.isCompilerMade = swift.kind == .compilerMade
            symbol.identity = swift.identity
        } else {
            symbol.name = demangle(found.linkageName, spoken: !rawNames)
        }
        if lines, let place = place(of: found.start, at: address) {
            symbol.file = place.file
            symbol.line = place.line
        }
        return symbol
    }

    /// The name and kind of a Swift function. Where its name does not tell the kind, its code does.
    ///
    /// A thunk that calls the function it leads to counts as the compiler's own. A thunk that does not call it has it inlined,
    /// and counts as that function.
    private func swiftFunction(_ linkageName: String, start: UInt64) -> SwiftName? {
        guard let name = SwiftName(linkageName).map({ joinsParts ? $0.asWhole : $0 }) else { return nil }
        guard name.kind == .thunk || name.kind == .written, let table = contents.table,
            name.kind == .thunk || respecialized.contains(linkageName),
            let extent = table.extent(around: start), let file = try? ELFFile(path: path)
        else { return name }
        let calls = CallInstructions(in: extent, of: file)
        let callees = calls.targets.compactMap { target -> String? in
            guard target != start, let found = table.lookup(target), found.start == target else { return nil }
            return found.linkageName
        }
        if callees.contains(where: { name.onlyLeads(to: $0, from: linkageName) }) { return name.asCompilerMade }
        // The one indirect call goes to the function in the class's table, unless an inlined function makes the call: an
        // inlined function has lines.
        let dispatches =
            name.kind == .thunk && calls.indirectCount == 1 && !callees.contains { SwiftName($0) != nil }
            && lineTable?.lookup(extent.upperBound - 1, in: extent) == nil
        return dispatches ? name.asCompilerMade : name
    }

    private struct Contents {
        var table: SymbolTable?
        /// Whether the table has local functions as well as those that the module exports.
        var namesLocals = false
        /// The file that holds the DWARF, if any does.
        var dwarfPath: String?
        var problem: SymbolProblem?
    }

    private lazy var contents = read()
    /// Linkage names of functions that also have a version that takes its parameters in another way.
    private lazy var respecialized = contents.table?.names(before: SwiftName.respecialized) ?? []

    /// Linkage names of functions that are divided into parts.
    private lazy var divided = Set((contents.table?.all ?? []).compactMap { SwiftAsyncPart.stem(of: $0.linkageName) })

    private lazy var functionLines = readDWARF { FunctionLines($0) }
    private lazy var lineTable = readDWARF { LineTable($0) }

    private func read() -> Contents {
        var contents = Contents()
        do throws(SymbolProblem) {
            let file = try openModule()
            let chosen = file.chosenFunctions
            contents.table = SymbolTable(file, type: SHT_SYMTAB, chosen: chosen)
            contents.dwarfPath = file.hasDWARF ? file.path : nil
            if contents.table == nil || contents.dwarfPath == nil, let debugPath = debugFile.find(for: file),
                let debug = try? ELFFile(path: debugPath)
            {
                contents.table = contents.table ?? SymbolTable(debug, type: SHT_SYMTAB, chosen: chosen)
                contents.dwarfPath = contents.dwarfPath ?? (debug.hasDWARF ? debugPath : nil)
            }
            contents.namesLocals = contents.table != nil
            contents.table = contents.table ?? SymbolTable(file, type: SHT_DYNSYM, chosen: chosen)
            if contents.table == nil { throw .noSymbols(path) }
        } catch {
            contents.problem = error
        }
        return contents
    }

    /// Opens the module's file or, if another file is there by now, the one that takes its place.
    private func openModule() throws(SymbolProblem) -> ELFFile {
        let problem: SymbolProblem
        do throws(SymbolProblem) {
            let file = try ELFFile(path: path)
            if buildID.isEmpty || file.buildID == buildID { return file }
            problem = .rebuilt(path)
        } catch {
            problem = error
        }
        guard let other = debugFile.replacement(for: path, buildID: buildID) else { throw problem }
        return try ELFFile(path: other)
    }

    private func readDWARF<Table>(_ read: (borrowing ELFFile) -> Table) -> Table? {
        guard let path = contents.dwarfPath, let file = try? ELFFile(path: path) else { return nil }
        return read(file)
    }
}
