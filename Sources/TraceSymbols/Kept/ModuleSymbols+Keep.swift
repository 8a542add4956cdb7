internal import CElfutils

extension ModuleSymbols {
    /// What is to be kept to give these answers again without any file.
    ///
    /// Where no function is asked for, separate debug information is not looked for: it is large, and the module was not recorded.
    ///
    /// - Parameters:
    ///   - functions: addresses of which functions are asked for.
    ///   - sites: addresses of which lines are asked for.
    ///   - variables: addresses in variables.
    /// - Returns: nil when the file is not there, or is another one. Nothing else can be asked of this module any more.
    /// - Complexity: O(symbols), and that of reading the units that hold the addresses.
    public func keep(functions: Set<UInt64>, sites: Set<UInt64>, variables: Set<UInt64>) -> KeptModule? {
        wanted = functions.union(sites).sorted()
        wantedFunctions = functions.sorted()
        if functions.isEmpty, variables.isEmpty, let module = keptWithoutLines(sites) { return module }
        guard var keeper = Keeper(self) else { return nil }
        var end: UInt64 = 0
        for address in functions.sorted() where address >= end {
            end = keeper.add(functionAt: address, from: self)
            if end == 0 { break }
        }
        for address in sites.sorted() {
            let place = locationInFile(at: address)
            keeper.module.rows.append(
                KeptModule.Row(
                    address: address, file: keeper.number(place?.file), line: UInt32(clamping: place?.line ?? 0)))
        }
        for address in variables.sorted() {
            let found = self.variables?.lookup(address)
            keeper.module.variables.append(
                KeptModule.Variable(
                    address: address, name: keeper.module.add(name: found?.linkageName ?? ""),
                    offset: found?.offset ?? 0))
        }
        if !functions.isEmpty { keeper.noteSplitFiles(of: self) }
        return keeper.module
    }

    /// The same for all functions, and all lines of their code.
    public func keepAll() -> KeptModule? {
        guard var keeper = Keeper(self) else { return nil }
        for found in contents.table?.stretches.map(\.self) ?? [] {
            keeper.add(found, at: found.range.lowerBound, from: self)
        }
        keeper.module.facts.insert(.hasAllRows)
        keeper.noteSplitFiles(of: self)
        keeper.module.rows = lineTable?.kept(in: keeper.module.stretches) { keeper.number($0) } ?? []
        return keeper.module
    }

    /// About how many bytes ``keepAll()`` takes; nil when that cannot be told, or would take long because people wrote Swift.
    public var sizeOfAll: Int? {
        guard !hasSwiftCode, let file = try? openModule() else { return nil }
        let symbols = (file.section(type: SHT_SYMTAB) ?? file.section(type: SHT_DYNSYM))?.header.sh_size ?? 0
        let lines = file.section(named: ".debug_line")?.header.sh_size ?? 0
        // A name takes 10 to 12 bytes in all, and lines about a quarter of what they take there.
        return Int(clamping: symbols / 2 + lines / 4)
    }

    /// Whether the file has lines itself. Nothing else is read.
    public var hasOwnLines: Bool { (try? openModule())?.hasDWARF ?? false }

    /// That no lines are known of a module that was not recorded and has none itself; nil for others.
    public func keptWithoutLines(_ sites: Set<UInt64>?) -> KeptModule? {
        guard let file = try? openModule(), !(readsLines && file.hasDWARF) else { return nil }
        var module = KeptModule(path: path, buildID: buildID)
        if file.section(type: SHT_SYMTAB) != nil || file.section(type: SHT_DYNSYM) != nil {
            module.facts.insert(.hasSymbols)
        }
        if let sites {
            module.rows = sites.sorted().map { KeptModule.Row(address: $0, file: SourceFiles.none, line: 0) }
        } else {
            module.facts.insert(.hasAllRows)
        }
        return module
    }

    fileprivate func traits(of linkageName: String, start: UInt64) -> KeptModule.Traits {
        guard hasSwiftCode, let name = SwiftName(linkageName) else { return [] }
        var traits: KeptModule.Traits = divided.contains(linkageName) ? .isDivided : []
        guard name.kind != .compilerMade else { return traits }
        if swiftFunction(linkageName, start: start, joined: false)?.kind == .compilerMade { traits.insert(.onlyLeads) }
        if swiftFunction(linkageName, start: start, joined: true)?.kind == .compilerMade {
            traits.insert(.onlyLeadsJoined)
        }
        return traits
    }
}

/// Puts together what is kept of a module.
private struct Keeper {
    var module: KeptModule
    private var files: [String: UInt32] = [:]

    /// - Returns: nil when the module's file is not there, or is another one.
    init?(_ symbols: ModuleSymbols) {
        module = KeptModule(path: symbols.path, buildID: symbols.buildID)
        switch symbols.contents.problem {
        case nil: module.facts.insert(.hasSymbols)
        case .noSymbols: break
        default: return nil
        }
        if symbols.contents.namesLocals { module.facts.insert(.namesLocals) }
        if symbols.hasSwiftCode { module.facts.insert(.hasSwiftCode) }
        if symbols.contents.dwarfPath != nil { module.facts.insert(.hasLines) }
    }

    mutating func noteSplitFiles(of symbols: ModuleSymbols) {
        guard symbols.lacksSplitFiles else { return }
        module.facts.insert(.lacksSplitFiles)
        if SplitFiles.havePackage(symbols.path) { module.facts.insert(.hasSplitPackage) }
    }

    mutating func number(_ file: String?) -> UInt32 {
        guard let file else { return SourceFiles.none }
        if let known = files[file] { return known }
        let number = UInt32(module.files.count)
        files[file] = number
        module.files.append(file)
        return number
    }

    /// - Returns: the end of the addresses from there that belong to the same function.
    mutating func add(functionAt address: UInt64, from symbols: ModuleSymbols) -> UInt64 {
        if let found = symbols.contents.table?.stretch(around: address) {
            add((address..<found.range.upperBound, found.start, found.linkageName), at: address, from: symbols)
            return found.range.upperBound
        }
        let end = address &+ 1
        if end != 0 {
            module.stretches.append(
                KeptModule.Stretch(
                    start: address, end: end, function: address, name: 0, file: SourceFiles.none, line: 0, traits: []))
        }
        return end
    }

    mutating func add(
        _ found: (range: Range<UInt64>, start: UInt64, linkageName: String), at address: UInt64,
        from symbols: ModuleSymbols
    ) {
        let place = symbols.place(of: found.start, at: address)
        module.stretches.append(
            KeptModule.Stretch(
                start: found.range.lowerBound, end: found.range.upperBound, function: found.start,
                name: module.add(name: found.linkageName), file: number(place?.file),
                line: UInt32(clamping: place?.line ?? 0),
                traits: symbols.traits(of: found.linkageName, start: found.start)))
    }
}
