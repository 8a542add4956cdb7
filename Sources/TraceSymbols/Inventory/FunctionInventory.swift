/// A function that a module defines, and what its file says of it.
public struct InventoryFunction: Sendable {
    /// As reports show it, ...
    public var name: String
    /// ... and as linkers do. It has no suffix of a version that a compiler made, such as `.constprop.0`.
    public var linkageName: String
    /// Equal for all versions of one function: those that a compiler specialised, and a constructor for whole objects and
    /// for bases. Nil where there are none to be known.
    public var identity: String?
    public var file: String?
    public var line: Int
    /// How many lines of its own its code comes from; 0 when that is not known.
    public var lineCount = 0
    /// Its addresses in the file.
    public var range: Range<UInt64>
    public var isHooked: Bool
    public var isCompilerMade: Bool
    public var isSwift: Bool
    public var uses: FunctionUses
}

/// All functions of a module, by ascending address.
public struct FunctionInventory: Sendable {
    public let functions: [InventoryFunction]

    public var hasHooks: Bool { functions.contains(where: \.isHooked) }

    /// - Parameters:
    ///   - path: of the module's file.
    ///   - symbols: of the same module, for names and places.
    ///   - uses: whether ``InventoryFunction/uses`` is wanted, which costs a pass over code and data.
    ///   - entries: whether first calls were recorded, so that functions whose entries can hold a trap count as hooked.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code and data + n log n in the number of functions).
    public init(
        path: String, symbols: ModuleSymbols, uses: Bool, entries: Bool = false
    ) throws(SymbolProblem) {
        if let problem = symbols.problem { throw problem }
        let hooked = try HookedFunctions(path: path)
        let trapped = entries ? Set(try FunctionEntries(path: path).entries.map(\.address)) : []
        // What has no hooks at all is mostly a library of the system's, whose names cost much.
        guard hooked.hookedCount > 0 || !trapped.isEmpty else {
            functions = []
            return
        }
        let file = try ELFFile(path: path)
        let references = uses ? FunctionReferences(file, hooked.functions.map(\.range)).uses : [:]
        var functions = hooked.functions.map { function in
            let symbol = symbols.symbol(at: function.range.lowerBound)
            var uses = references[function.range.lowerBound] ?? []
            if symbols.isInlined(symbol) { uses.insert(.inlined) }
            if function.linkageName.hasSuffix("TW"), SwiftName(function.linkageName) != nil { uses.insert(.witness) }
            let linkageName = HookedFunctions.withoutVersion(function.linkageName)
            return InventoryFunction(
                name: symbol.name, linkageName: linkageName,
                identity: FunctionInventory.identity(linkageName, symbol), file: symbol.file,
                line: symbol.line, range: function.range,
                isHooked: function.isHooked || trapped.contains(function.range.lowerBound),
                isCompilerMade: symbol.isCompilerMade,
                isSwift: symbol.isSwift, uses: uses)
        }
        FunctionInventory.countLines(&functions, symbols)
        self.functions = functions
    }

    /// Sets how many lines each function has. They end where the next function of its file begins: what lies elsewhere was
    /// inlined.
    private static func countLines(_ functions: inout [InventoryFunction], _ symbols: ModuleSymbols) {
        var beginnings: [String: [Int]] = [:]
        for function in functions {
            if let file = function.file { beginnings[file, default: []].append(function.line) }
        }
        beginnings = beginnings.mapValues { $0.sorted() }
        for index in functions.indices {
            let function = functions[index]
            guard let file = function.file, let lines = beginnings[file] else { continue }
            let next = lines.partitioningIndex { $0 > function.line }
            let end = next < lines.count ? lines[next] : .max
            functions[index].lineCount = symbols.lineCount(in: function.range, of: file, among: function.line..<end)
        }
    }

    /// The full declaration, with its place. Functions of several files may have one name, and the two kinds of a constructor
    /// have one declaration. A Swift function and its witness have one name and place.
    private static func identity(_ linkageName: String, _ symbol: Symbol) -> String? {
        guard let file = symbol.file else { return symbol.identity }
        let name = symbol.isSwift ? symbol.name : demangle(linkageName, spoken: false)
        return "\(name)\n\(file)\n\(symbol.line)"
    }
}
