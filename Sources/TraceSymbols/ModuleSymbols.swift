internal import CElfutils

/// The functions of one ELF module: names from its symbol table, places from its DWARF.
///
/// File addresses are addresses in memory minus the module's load bias. Nothing is read before the first question:
/// names need the symbol table, definitions a pass over DWARF's functions, and locations the line table. Each of these is
/// read once into a sorted table, and the file is closed again. A damaged file counts as one that holds nothing. Only one thread
/// at a time may use it.
public final class ModuleSymbols {
    let path: String
    let buildID: [UInt8]
    private let debugFile: DebugFile
    private let files: SymbolFiles
    private let rawNames: Bool
    private let joinsParts: Bool
    /// Where the file is now; nil: at ``path``.
    private let opened: String?
    private let kept: KeptModule?
    /// Whether another file, which no build-id tells from it, may be at ``path``.
    private let isChanged: Bool
    /// Ascending addresses, when nothing is going to be asked of others.
    var wanted: [UInt64]?
    /// Whether lines are looked for.
    let readsLines: Bool
    /// Whether it was said that split debug information is missing.
    private var isSplitTold = false
    /// Those of them that are asked for as functions.
    var wantedFunctions: [UInt64]?

    /// - Parameters:
    ///   - path: of the module's file, as it was mapped.
    ///   - buildID: of the module as it ran; empty when it had none.
    ///   - opened: a path that leads to the file even if another one is at `path` by now.
    ///   - kept: what was kept of the module when it was there. Where no file could tell more, files are not looked into.
    ///   - isChanged: whether the module has no build-id, and the file at `path` was changed since it ran.
    ///   - debugRoots: where separate debug information is installed.
    ///   - symbolFiles: where the symbols of stripped modules may be besides.
    ///   - rawNames: whether names are as demanglers give them, and every version of a function stands by itself.
    ///   - readsLines: whether files and lines are wanted.
    ///   - joinsParts: whether the parts of a function that may suspend all have its name and identity.
    public init(
        path: String, buildID: [UInt8], opened: String? = nil, kept: KeptModule? = nil,
        isChanged: Bool = false, debugRoots: [String] = ["/usr/lib/debug"], symbolFiles: SymbolFiles = [],
        rawNames: Bool = false,
        joinsParts: Bool = false, readsLines: Bool = true
    ) {
        self.readsLines = readsLines
        self.opened = opened
        self.kept = kept
        self.isChanged = isChanged
        self.rawNames = rawNames
        self.joinsParts = joinsParts
        self.path = path
        self.buildID = buildID
        files = symbolFiles
        debugFile = DebugFile(roots: debugRoots, named: symbolFiles)
    }

    /// Why there are no names, or nil. Reads the symbol table, unless names were kept.
    public var problem: SymbolProblem? {
        guard let answers else { return contents.problem }
        return answers.facts.contains(.hasSymbols) ? nil : .noSymbols(path)
    }

    /// What was kept, where that is what answers: a file that somebody has named, and that tells more, is better. Without a build-id
    /// it could be another file.
    private lazy var answers: KeptModule? = {
        guard let kept, files.mayTellMore, !kept.isRich, !buildID.isEmpty, contents.problem == nil else { return kept }
        let tellsMore =
            contents.namesLocals && !kept.facts.contains(.namesLocals)
            || contents.dwarfPath != nil && !kept.facts.contains(.hasLines)
            || kept.facts.contains(.lacksSplitFiles) && contents.dwarfPath != nil && !lacksSplitFiles
        return tellsMore ? nil : kept
    }()

    /// Whether a file may be asked that is there now.
    private var mayAskFile: Bool { answers == nil || !buildID.isEmpty }

    /// The function that covers `fileAddress`.
    ///
    /// - Parameter lines: whether file and line of the definition are wanted; they cost a pass over DWARF once.
    /// - Complexity: O(log n) after the tables are built; demangles the name each time.
    public func symbol(at fileAddress: UInt64, lines: Bool = true) -> Symbol {
        if let answers, let stretch = answers.stretch(at: fileAddress), stretch.name != 0 {
            return symbol(stretch, of: answers, lines: lines)
        }
        let isKept = answers?.stretch(at: fileAddress) != nil || !mayAskFile
        guard !isKept, let found = contents.table?.lookup(fileAddress) else {
            let module = path.split(separator: "/").last.map(String.init) ?? path
            let name = "\(module)+0x\(String(fileAddress, radix: 16))"
            var symbol = Symbol(name: name, linkageName: name, file: nil, line: 0, start: fileAddress, isKnown: false)
            // In Swift code, a function without a symbol is one that only the compiler calls. In a stripped module,
            // functions that people wrote have no symbol either.
            let namesLocals = isKept ? answers?.facts.contains(.namesLocals) ?? false : contents.namesLocals
            symbol.isCompilerMade = !rawNames && namesLocals && hasSwiftCode
            return symbol
        }
        return symbol(found, at: fileAddress, lines: lines)
    }

    /// Whether it holds Swift code. Only the section table is read.
    public private(set) lazy var hasSwiftCode: Bool = {
        if let kept { return kept.hasSwiftCode }
        guard let file = try? ELFFile(path: path, at: opened) else { return false }
        return file.section { name, _ in name.hasPrefix("swift5_") } != nil
    }()

    /// ``Symbol/identity`` of the function that covers `fileAddress`.
    ///
    /// - Complexity: O(log n) after the table is built; demangles the name each time.
    public func identity(at fileAddress: UInt64) -> String? {
        if rawNames { return nil }
        if let answers, let stretch = answers.stretch(at: fileAddress) {
            return swiftFunction(stretch, named: answers.name(stretch.name))?.identity
        }
        guard mayAskFile, let found = contents.table?.lookup(fileAddress) else { return nil }
        return swiftFunction(found.linkageName, start: found.start, joined: joinsParts)?.identity
    }

    /// Which part of a Swift function that may suspend the code at `fileAddress` is, and the function's name; nil when
    /// it is none.
    ///
    /// - Complexity: O(log n) after the table is built.
    public func asyncPart(at fileAddress: UInt64) -> (part: SwiftAsyncPart, name: SwiftName?)? {
        if let answers, let stretch = answers.stretch(at: fileAddress) {
            let name = answers.name(stretch.name), isDivided = stretch.traits.contains(.isDivided)
            guard let part = SwiftAsyncPart(linkageName: name) ?? (isDivided ? .start : nil) else { return nil }
            return (part, swiftFunction(stretch, named: name))
        }
        guard mayAskFile, let table = contents.table, let found = table.lookup(fileAddress) else { return nil }
        let name = found.linkageName
        guard let part = SwiftAsyncPart(linkageName: name) ?? (divided.contains(name) ? .start : nil) else {
            return nil
        }
        return (part, swiftFunction(name, start: found.start, joined: joinsParts))
    }

    /// The name of the variable at `fileAddress`, with the offset in it where that is not 0; nil where no variable has a name.
    ///
    /// - Complexity: O(log n) after the table is built.
    public func variable(at fileAddress: UInt64) -> String? {
        guard let found = variable(around: fileAddress) else { return nil }
        let name = demangle(found.linkageName, spoken: !rawNames)
        return found.offset == 0 ? name : "\(name)+\(found.offset)"
    }

    private func variable(around address: UInt64) -> (linkageName: String, offset: UInt64)? {
        if let answers {
            if let found = answers.variable(at: address) { return found.linkageName.isEmpty ? nil : found }
            if !mayAskFile { return nil }
        }
        return variables?.lookup(address)
    }

    lazy var variables: VariableTable? = {
        guard let file = try? openModule() else { return nil }
        return VariableTable(file)
    }()

    /// File and line of the instruction that contains `fileAddress`; for a return address, pass the byte before it.
    ///
    /// - Complexity: O(log n) after the line table is built.
    public func location(at fileAddress: UInt64) -> (file: String, line: Int)? {
        if let answers {
            if let known = answers.location(at: fileAddress) { return known }
            if !mayAskFile { return nil }
        }
        return locationInFile(at: fileAddress)
    }

    func locationInFile(at fileAddress: UInt64) -> (file: String, line: Int)? {
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
    func place(of start: UInt64, at address: UInt64) -> (file: String, line: Int)? {
        functionLines?.lookup(address) ?? (lacksSplitFiles ? nil : locationInFile(at: start))
    }

    private func symbol(_ found: (start: UInt64, linkageName: String), at address: UInt64, lines: Bool) -> Symbol {
        var symbol = Symbol(
            name: "", linkageName: found.linkageName, file: nil, line: 0, start: found.start, isKnown: true)
        symbol.size = contents.table?.extent(around: address).map { $0.upperBound &- $0.lowerBound }
        symbol.take(
            rawNames ? nil : swiftFunction(found.linkageName, start: found.start, joined: joinsParts),
            spoken: !rawNames)
        if lines, let place = place(of: found.start, at: address) {
            symbol.file = place.file
            symbol.line = place.line
        }
        return symbol
    }

    private func symbol(_ stretch: KeptModule.Stretch, of answers: KeptModule, lines: Bool) -> Symbol {
        let name = answers.name(stretch.name)
        var symbol = Symbol(name: "", linkageName: name, file: nil, line: 0, start: stretch.function, isKnown: true)
        symbol.size = stretch.end > stretch.function ? stretch.end - stretch.function : nil
        symbol.take(rawNames ? nil : swiftFunction(stretch, named: name), spoken: !rawNames)
        if lines, let place = answers.place(stretch.file, stretch.line) {
            symbol.file = place.file
            symbol.line = place.line
        } else if lines, answers.facts.contains(.lacksSplitFiles), !isSplitTold {
            isSplitTold = true
            files.say(SplitFiles.complaint(of: path, nil, isPackage: answers.facts.contains(.hasSplitPackage)))
        }
        return symbol
    }

    private func swiftFunction(_ stretch: KeptModule.Stretch, named linkageName: String) -> SwiftName? {
        guard let name = SwiftName(linkageName).map({ joinsParts ? $0.asWhole : $0 }) else { return nil }
        return stretch.traits.contains(joinsParts ? .onlyLeadsJoined : .onlyLeads) ? name.asCompilerMade : name
    }

    /// The name and kind of a Swift function. Where its name does not tell the kind, its code does.
    ///
    /// A thunk that calls the function it leads to counts as the compiler's own. A thunk that does not call it has it inlined,
    /// and counts as that function.
    func swiftFunction(_ linkageName: String, start: UInt64, joined: Bool) -> SwiftName? {
        guard let name = SwiftName(linkageName).map({ joined ? $0.asWhole : $0 }) else { return nil }
        guard name.kind == .thunk || name.kind == .written, let table = contents.table,
            name.kind == .thunk || respecialized.contains(linkageName),
            let extent = table.extent(around: start), let file = try? openModule()
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

    struct Contents {
        var table: SymbolTable?
        /// Whether the table has local functions as well as those that the module exports.
        var namesLocals = false
        /// A path that leads to the file that holds the DWARF, if any does.
        var dwarfPath: String?
        var problem: SymbolProblem?
    }

    lazy var contents = read()
    /// Linkage names of functions that also have a version that takes its parameters in another way.
    private lazy var respecialized = contents.table?.names(before: SwiftName.respecialized) ?? []

    /// Linkage names of functions that are divided into parts.
    lazy var divided = Set((contents.table?.all ?? []).compactMap { SwiftAsyncPart.stem(of: $0.linkageName) })

    private lazy var functionLines: FunctionLines? = {
        let lines = wanted == nil ? readDWARF { FunctionLines($0, code: $1) } : wantedLines?.functions
        if let missing = lines?.missing {
            files.say(SplitFiles.complaint(of: path, missing, isPackage: SplitFiles.havePackage(path)))
        }
        return lines
    }()

    /// Whether debug information is elsewhere that is not there.
    var lacksSplitFiles: Bool { functionLines?.missing != nil }

    lazy var lineTable = wanted == nil ? readDWARF { LineTable($0, code: $1) } : wantedLines?.lines
    /// Both of the wanted addresses, because libdw decodes a unit's lines for each of them.
    private lazy var wantedLines = readDWARF { units, code in
        (
            functions: FunctionLines(units, code: code, covering: wanted, functions: wantedFunctions),
            lines: LineTable(units, code: code, covering: wanted)
        )
    }

    private func read() -> Contents {
        var contents = Contents()
        do throws(SymbolProblem) {
            let file = try openModule()
            let chosen = file.chosenFunctions
            // What a Swift function is, others decide.
            let around = hasSwiftCode ? nil : wanted
            contents.table = SymbolTable(file, type: SHT_SYMTAB, chosen: chosen, around: around)
            contents.dwarfPath = readsLines && file.hasDWARF ? file.path == path ? opened ?? path : file.path : nil
            if contents.table == nil || readsLines && contents.dwarfPath == nil,
                let debugPath = debugFile.find(for: file),
                let debug = try? ELFFile(path: debugPath)
            {
                contents.table = contents.table ?? SymbolTable(debug, type: SHT_SYMTAB, chosen: chosen, around: around)
                contents.dwarfPath = contents.dwarfPath ?? (readsLines && debug.hasDWARF ? debugPath : nil)
            }
            if contents.table == nil, let bytes = file.miniDebugInfo {
                contents.table = ELFFile.withFile(of: bytes) {
                    SymbolTable($0, type: SHT_SYMTAB, chosen: chosen, around: around, and: file)
                }
            }
            contents.namesLocals = contents.table != nil
            contents.table = contents.table ?? SymbolTable(file, type: SHT_DYNSYM, chosen: chosen, around: around)
            if contents.table == nil { throw .noSymbols(path) }
        } catch {
            contents.problem = error
        }
        return contents
    }

    /// Opens the module's file or, if another file is there by now, the one that takes its place.
    func openModule() throws(SymbolProblem) -> ELFFile {
        let problem: SymbolProblem
        do throws(SymbolProblem) {
            let file = try ELFFile(path: path, at: opened)
            if buildID.isEmpty ? !isChanged : file.buildID == buildID { return file }
            problem = buildID.isEmpty ? .changed(path) : .rebuilt(path)
        } catch {
            problem = error
        }
        guard let other = debugFile.replacement(for: path, buildID: buildID) else { throw problem }
        return try ELFFile(path: other)
    }

    private func readDWARF<Table>(_ read: (borrowing DWARFUnits, _ code: [Range<UInt64>]) -> Table) -> Table? {
        guard let path = contents.dwarfPath, let file = try? ELFFile(path: path) else { return nil }
        return Self.readDWARF(of: file, read)
    }

    /// The file is open for as long as this lasts.
    private static func readDWARF<Table>(
        of file: borrowing ELFFile, _ read: (borrowing DWARFUnits, _ code: [Range<UInt64>]) -> Table
    ) -> Table? {
        guard let units = DWARFUnits(file) else { return nil }
        return read(units, file.codeRanges)
    }
}

extension Symbol {
    /// Takes the names that people read.
    ///
    /// - Parameters:
    ///   - swift: what is known of a Swift function; nil for others.
    ///   - spoken: see ``demangle(_:spoken:)``.
    fileprivate mutating func take(_ swift: SwiftName?, spoken: Bool) {
        guard let swift else {
            name = demangle(linkageName, spoken: spoken)
            return
        }
        name = swift.name
        isSwift = true
        isCompilerMade = swift.kind == .compilerMade
        identity = swift.identity
    }
}
