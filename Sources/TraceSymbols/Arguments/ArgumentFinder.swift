internal import CElfutils

/// Finds where the arguments of functions are while their enter hooks run, by the DWARF of a module; of functions with
/// sleds, also where their results are when they end.
///
/// At its call of a hook, a function has what it still needs in registers that the hook saves, or in its frame.
/// DWARF's location lists tell which, at the address that the hook returns to. A function that was inlined calls the
/// hook in the frame of another one; there, its own inlined arguments count.
public struct ArgumentFinder {
    /// Nothing of the file's DWARF can be read.
    public private(set) var hasDWARF = true
    /// What the debug information of some functions that were asked for leaves out.
    public enum Lack: Hashable, Sendable {
        /// It has no arguments, as with `-g1`.
        case arguments
        /// It is in a file of this name, as with `-gsplit-dwarf`, which is not there.
        case file(String)
    }
    public private(set) var lacks: [Lack: Set<UInt64>] = [:]
    /// By ascending return address and function.
    public private(set) var sites: [ArgumentSite] = []
    /// Functions whose results are asked for, and which have hooks in place of sleds: those that get detours for that, and others.
    public private(set) var withDetours: Set<UInt64> = [], withHooks: Set<UInt64> = []
    /// What was asked for and found in no function.
    public private(set) var unknown: Set<ArgumentPath>
    /// The names of the arguments of functions of which some were asked for by name.
    public private(set) var names: Set<String> = []

    /// By the addresses that hooks report, in the module's file: what is asked for; nothing in the list stands for all.
    public typealias Wanted = [UInt64: [ArgumentPath]]

    /// What functions are known by in every unit: their linkage names, or where they are described.
    private enum Key: Hashable {
        case name(String)
        case place(Int)
    }

    private var wanted: Wanted
    /// Functions whose results are asked for.
    private let wantedResults: Set<UInt64>
    /// Where the first sleds of functions end, or detours lead away, by the functions' beginnings.
    private var sleds: [UInt64: UInt64] = [:]

    /// The symbols of these functions.
    private var symbols: [UInt64: (name: String, isLocal: Bool)] = [:]
    /// Where versions of functions begin that gcc calls in ways of its own. What it says of their arguments is at times of others.
    private var clones: Set<UInt64> = []
    /// The addresses that hooks report for functions that resolvers choose, by where their versions begin.
    private var versions: [UInt64: [UInt64]] = [:]
    private var functions: [Key: Set<UInt64>] = [:]
    private let enumerations: SwiftEnumerations
    /// Where enter hooks return to.
    private let returns: [UInt64]
    private let isARM: Bool
    private var frames: [OpaquePointer] = []
    /// The module's code.
    private var code: [(range: Range<UInt64>, bytes: [UInt8])] = []
    /// What made the unit that is being read.
    private var producer = Producer()
    private struct Place: Hashable {
        var returnAddress: UInt64
        var function: UInt64
    }
    private var found: [Place: [FoundArgument]] = [:]

    private static let depthLimit = 100

    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + DIEs of functions).
    ///
    /// - Parameters:
    ///   - startsAtEntries: whether calls are told of at the functions' first instructions, as at sleds.
    ///   - resultsAtEntries: functions that can have detours for their results, if they have hooks in place of sleds.
    public init(
        path: String, wanted: Wanted, results: Set<UInt64> = [], startsAtEntries: Bool = false,
        resultsAtEntries: Set<UInt64> = []
    ) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        self.wanted = wanted
        wantedResults = results
        unknown = Set(wanted.values.joined()).subtracting([.all])
        returns = try HookedFunctions.hookReturns(in: file)
        enumerations = SwiftEnumerations(file)
        isARM = file.isARM
        if !isARM {
            for sled in Sleds(file).all where sled.kind == .enter || sled.kind == .enterWithArguments {
                if wanted[sled.function] != nil || results.contains(sled.function) {
                    sleds[sled.function] = sled.address + Self.sledSize
                }
            }
        }
        if startsAtEntries { for function in results.union(wanted.keys) { sleds[function] = function } }
        let others = results.filter { sleds[$0] == nil }
        if !others.isEmpty, let all = try? HookedFunctions(path: path).functions {
            withHooks = others.intersection(all.filter(\.isHooked).map(\.range.lowerBound))
        }
        withDetours = withHooks.intersection(resultsAtEntries)
        withHooks.subtract(withDetours)
        versions = file.versions(of: Set(wanted.keys))
        if file.hasDWARF {
            read(file, code: file)
        } else if let other = DebugFile(roots: ["/usr/lib/debug"]).find(for: file) {
            read(try ELFFile(path: other), code: file)
        } else {
            hasDWARF = false
        }
        sites = found.map { ArgumentSite(returnAddress: $0.returnAddress, function: $0.function, arguments: $1) }
        sites.sort { ($0.returnAddress, $0.function) < ($1.returnAddress, $1.function) }
    }

    private mutating func read(_ file: borrowing ELFFile, code: borrowing ELFFile) {
        symbols = file.functionSymbols(at: Set(wanted.keys).union(sleds.keys).union(withDetours))
        clones = file.functionClones
        symbols.merge(file.functionSymbols(at: Set(versions.keys))) { first, _ in first }
        guard let units = DWARFUnits(file) else {
            hasDWARF = false
            return
        }
        let exceptions = dwarf_getcfi_elf(code.handle)
        frames = [exceptions, units.callFrames].compactMap { $0 }
        // Two passes: a unit may inline a function whose own code is described in another.
        units.forEach { _, content in visit(&content, in: nil, depth: 0) { finder, die, _ in finder.learn(die) } }
        let starts = Set(wanted.keys).union(wantedResults).sorted()
        units.forEach { unit, content in findLack(in: &unit, &content, of: starts) }
        guard !functions.isEmpty else { return release(exceptions) }
        self.code = code.executableBytes
        units.forEach { unit, content in
            producer = Producer(of: &unit)
            visit(&content, in: nil, depth: 0) { finder, die, subprogram in finder.find(die, in: subprogram) }
        }
        release(exceptions)
    }

    private mutating func findLack(in unit: inout Dwarf_Die, _ content: inout Dwarf_Die, of starts: [UInt64]) {
        var attribute = Dwarf_Attribute()
        let file = [DW_AT_dwo_name, DW_AT_GNU_dwo_name].first { dwarf_attr(&unit, UInt32($0), &attribute) != nil }
            .flatMap { _ in dwarf_formstring(&attribute) }.map { String(cString: $0) }
        let lack: Lack
        if let file, content.addr == unit.addr {
            lack = .file(file)
        } else {
            var hasTypes = false
            ArgumentType.forEachChild(of: content, nil) { child in
                var child = child
                hasTypes = hasTypes || ![DW_TAG_subprogram, DW_TAG_namespace].contains(Int(dwarf_tag(&child)))
            }
            if hasTypes { return }
            lack = .arguments
        }
        for range in Self.ranges(of: unit) {
            let index = starts.partitioningIndex { $0 >= range.lowerBound }
            for start in starts[index...].prefix(while: { $0 < range.upperBound }) {
                lacks[lack, default: []].insert(start)
            }
        }
    }

    private mutating func release(_ exceptions: OpaquePointer?) {
        if let exceptions { dwarf_cfi_end(exceptions) }
        frames = []
    }

    // MARK: Functions

    /// Passes functions, and those that were inlined into them, outer ones first.
    private mutating func visit(
        _ parent: inout Dwarf_Die, in subprogram: Dwarf_Die?, depth: Int,
        _ body: (inout ArgumentFinder, Dwarf_Die, Dwarf_Die) -> Void
    ) {
        var child = Dwarf_Die()
        guard depth < Self.depthLimit, dwarf_child(&parent, &child) == 0 else { return }
        var address: UnsafeMutableRawPointer?
        repeat {
            switch Int(dwarf_tag(&child)) {
            case DW_TAG_subprogram:
                if Self.hasCode(child) { body(&self, child, child) }
                visit(&child, in: child, depth: depth + 1, body)
            case DW_TAG_inlined_subroutine:
                if let subprogram { body(&self, child, subprogram) }
                visit(&child, in: subprogram, depth: depth + 1, body)
            case DW_TAG_lexical_block, DW_TAG_namespace, DW_TAG_module, DW_TAG_structure_type, DW_TAG_class_type,
                DW_TAG_union_type, DW_TAG_enumeration_type, DW_TAG_interface_type:
                visit(&child, in: subprogram, depth: depth + 1, body)
            default: break
            }
            address = child.addr
            // A damaged sibling reference may point backwards.
        } while withUnsafeMutablePointer(to: &child) { dwarf_siblingof($0, $0) } == 0 && child.addr > address!
    }

    /// Of a function in several parts, the first one is where it begins.
    private static func start(of die: Dwarf_Die) -> UInt64? {
        var (die, start) = (die, Dwarf_Addr(0))
        return dwarf_entrypc(&die, &start) == 0 ? start : ranges(of: die).first?.lowerBound
    }

    private static func hasCode(_ die: Dwarf_Die) -> Bool {
        var (die, attribute) = (die, Dwarf_Attribute())
        return dwarf_attr(&die, UInt32(DW_AT_low_pc), &attribute) != nil
            || dwarf_attr(&die, UInt32(DW_AT_ranges), &attribute) != nil
    }

    private static func ranges(of die: Dwarf_Die) -> [Range<UInt64>] {
        var (die, base, start, end) = (die, Dwarf_Addr(0), Dwarf_Addr(0), Dwarf_Addr(0))
        var ranges: [Range<UInt64>] = []
        var offset = dwarf_ranges(&die, 0, &base, &start, &end)
        while offset > 0 {
            if start < end { ranges.append(start..<end) }
            offset = dwarf_ranges(&die, offset, &base, &start, &end)
        }
        return ranges
    }

    /// The DIE that the versions of a function share.
    private static func origin(of die: Dwarf_Die) -> Dwarf_Die {
        var die = die
        for _ in 0..<8 {
            var (attribute, next) = (Dwarf_Attribute(), Dwarf_Die())
            guard dwarf_attr(&die, UInt32(DW_AT_abstract_origin), &attribute) != nil,
                dwarf_formref_die(&attribute, &next) != nil
            else { break }
            die = next
        }
        return die
    }

    private static func key(of die: Dwarf_Die) -> Key {
        var origin = origin(of: die)
        var attribute = Dwarf_Attribute()
        for name in [DW_AT_linkage_name, DW_AT_MIPS_linkage_name]
        where dwarf_attr_integrate(&origin, UInt32(name), &attribute) != nil {
            if let text = dwarf_formstring(&attribute) { return .name(String(cString: text)) }
        }
        return .place(Int(bitPattern: origin.addr))
    }

    private mutating func learn(_ die: Dwarf_Die) {
        guard let start = Self.start(of: die) else { return }
        if wanted[start] != nil || wantedResults.contains(start) {
            functions[Self.key(of: die), default: []].insert(start)
        }
        for place in versions[start] ?? [] { functions[Self.key(of: die), default: []].insert(place) }
    }

    // MARK: Arguments

    private mutating func find(_ die: Dwarf_Die, in subprogram: Dwarf_Die) {
        guard let addresses = functions[Self.key(of: die)], let one = addresses.first else { return }
        let start = die.addr == subprogram.addr ? Self.start(of: die) : nil
        if let start, let end = sleds[start] { findBySleds(die, start: start, end: end) }
        if let start, withDetours.contains(start) { findResult(die, start: start, end: start) }
        guard let paths = wanted[one] else { return }
        let all = Self.arguments(of: die)
        for range in Self.ranges(of: die) {
            // The call is inside, but it may be the last instruction.
            var index = returns.partitioningIndex { $0 > range.lowerBound }
            while index < returns.count, returns[index] <= range.upperBound {
                let place = returns[index]
                index += 1
                let entries = entries(of: all, die, in: subprogram, start: start, at: place)
                let arguments = arguments(all, paths) { entries[$0] }
                guard !arguments.isEmpty else { continue }
                for address in addresses { found[Place(returnAddress: place, function: address)] = arguments }
                // Swift's hooks report where they return to.
                if wanted[place] != nil { found[Place(returnAddress: place, function: place)] = arguments }
            }
        }
    }

    /// Where the arguments of a function, or of one that was inlined, are at its call of the hook.
    private func entries(
        of all: [EntryReader.Argument], _ die: Dwarf_Die, in subprogram: Dwarf_Die, start: UInt64?, at place: UInt64
    ) -> [EntryReader.Entry] {
        let reader = LocationReader(address: place, frames: frames, subprogram: subprogram, isARM: isARM)
        let approach = start.flatMap { self.approach(from: $0, to: place) }
        var entries = shown(all).map { argument in
            argument.place.map { Self.missing($0, start == nil ? .inlined : .code) } ?? EntryReader.Entry()
        }
        let isClone = Self.start(of: subprogram).map(clones.contains) ?? false
        if let start, !isARM {
            let known = EntryReader(
                subprogram, start: start, sledEnd: nil, symbol: symbols[start], isLLVM: producer.isLLVM, frames: frames,
                approach: approach
            ).entries(all)
            for (index, argument) in shown(all).enumerated() {
                entries[index].reason = known[index].reason
                entries[index].isUsed = known[index].isUsed
                let location = known[index].location
                if location.isGone { continue }
                if let place = approach?.place(of: location, size: argument.type?.usedSize ?? 8) {
                    entries[index].location = place
                } else if approach == nil {
                    entries[index].reason = .unknown(.code)
                }
            }
        }
        let isSwift = DWARFLanguage(of: subprogram) == .swift
        guard isSwift || !producer.isLLVM && !isClone else { return entries }
        let isOptimized = producer.isOptimized || EntryReader.isOptimized(subprogram)
        for (index, argument) in shown(all).enumerated() where entries[index].location.isGone {
            guard let die = argument.place else { continue }
            if isSwift {
                if let place = reader.swiftLocation(of: die) { entries[index].location = place }
            } else if let place = reader.location(of: die, isOptimized: isOptimized) {
                entries[index].location = place
            }
        }
        return entries
    }

    /// What is said of an argument whose place is not known.
    private static func missing(_ die: Dwarf_Die, _ reason: UnknownPlace) -> EntryReader.Entry {
        var (die, attribute) = (die, Dwarf_Attribute())
        let isSaid =
            dwarf_attr(&die, UInt32(DW_AT_location), &attribute) != nil
            || dwarf_attr(&die, UInt32(DW_AT_const_value), &attribute) != nil
        return EntryReader.Entry(reason: isSaid ? .unknown(reason) : .optimizedOut)
    }

    /// - Parameter end: where the sled ends.
    private func reader(of die: Dwarf_Die, start: UInt64, end: UInt64) -> EntryReader {
        EntryReader(
            die, start: start, sledEnd: end, symbol: symbols[start], isLLVM: producer.isLLVM, frames: frames,
            approach: approach(from: start, behind: end))
    }

    private mutating func findBySleds(_ die: Dwarf_Die, start: UInt64, end: UInt64) {
        if let paths = wanted[start] {
            let all = Self.arguments(of: die), entries = reader(of: die, start: start, end: end).entries(all)
            let found = arguments(all, paths) { entries[$0] }
            if !found.isEmpty { self.found[Place(returnAddress: start, function: start)] = found }
        }
        if wantedResults.contains(start) { findResult(die, start: start, end: end) }
    }

    private mutating func findResult(_ die: Dwarf_Die, start: UInt64, end: UInt64) {
        guard let result = reader(of: die, start: start, end: end).result() else { return }
        found[Place(returnAddress: ArgumentSite.result, function: start)] = values(
            of: result.type, "", at: result.location, otherwise: result.reason)
    }

    private static let sledSize: UInt64 = 11

    private func approach(from start: UInt64, behind sled: UInt64? = nil, to hookReturn: UInt64? = nil) -> HookApproach?
    {
        guard !isARM, let code = code.first(where: { $0.range.contains(start) }) else { return nil }
        let offset = Int(start - code.range.lowerBound)
        return code.bytes.withUnsafeBytes { bytes in
            HookApproach(
                UnsafeRawBufferPointer(rebasing: bytes[offset..<min(bytes.count, offset + 4096)]),
                from: sled.map { Int($0 - start) } ?? 0, at: start, hookReturn: hookReturn)
        }
    }

    private func shown(_ all: [EntryReader.Argument]) -> [EntryReader.Argument] { all.filter { !$0.isHidden } }

    /// - Parameter entry: gives what is known of an argument, by its index among all that are shown.
    private mutating func arguments(
        _ all: [EntryReader.Argument], _ paths: [ArgumentPath], _ entry: (Int) -> EntryReader.Entry
    ) -> [FoundArgument] {
        let all = shown(all)
        func value(_ index: Int, _ path: ArgumentPath?) -> [FoundArgument]? {
            self.value(of: all[index], path, entry(index))
        }
        if paths.isEmpty { return all.indices.flatMap { value($0, nil)! } }
        names.formUnion(all.map(\.name))
        var result: [FoundArgument] = []
        for path in paths {
            if path == .all { result = all.indices.flatMap { value($0, nil)! } }
            if result.contains(where: { $0.name == path.text }) { unknown.remove(path) }
            if path == .all || result.contains(where: { $0.name == path.text }) { continue }
            guard let index = all.firstIndex(where: { $0.name == path.names[0] }), let found = value(index, path) else {
                continue
            }
            unknown.remove(path)
            result += found
        }
        return result
    }

    private static func arguments(of die: Dwarf_Die) -> [EntryReader.Argument] {
        let origin = origin(of: die)
        let places = parameters(of: die)
        if origin.addr == die.addr { return places }
        return parameters(of: origin).map { argument in
            var argument = argument
            let place = places.first { Self.origin(of: $0.place!).addr == argument.place!.addr }
            argument.place = place?.place
            return argument
        }
    }

    private static func parameters(of die: Dwarf_Die) -> [EntryReader.Argument] {
        var (parent, child, result) = (die, Dwarf_Die(), [EntryReader.Argument]())
        guard dwarf_child(&parent, &child) == 0 else { return [] }
        var address: UnsafeMutableRawPointer?
        repeat {
            if Int(dwarf_tag(&child)) == DW_TAG_formal_parameter {
                var attribute = Dwarf_Attribute()
                let name = dwarf_diename(&child).map { String(cString: $0) }
                let isArtificial = dwarf_attr_integrate(&child, UInt32(DW_AT_artificial), &attribute) != nil
                result.append(
                    EntryReader.Argument(
                        name: name ?? "#\(result.count + 1)", type: ArgumentType(of: child), place: child,
                        isArtificial: isArtificial))
            }
            address = child.addr
        } while withUnsafeMutablePointer(to: &child) { dwarf_siblingof($0, $0) } == 0 && child.addr > address!
        return result
    }

    /// nil when the path leads nowhere.
    private func value(of argument: EntryReader.Argument, _ path: ArgumentPath?, _ entry: EntryReader.Entry)
        -> [FoundArgument]?
    {
        let name = path?.text ?? argument.name
        guard var type = argument.type else { return [FoundArgument(name: name, kind: entry.reason, steps: [])] }
        var (location, reason) = (entry.location, entry.reason)
        if !entry.isUsed, location.isAddress || type.isReference || type.isPointer && (path != nil || type.isText) {
            (location, reason) = (.gone, .unknown(.unread))
        }
        for member in path?.names.dropFirst() ?? [] {
            guard let next = type.member(member, at: location) else { return nil }
            (type, location) = next
        }
        for _ in 0..<(path?.dereferences ?? 0) {
            guard let next = type.target(at: location) else { return nil }
            (type, location) = next
        }
        return values(of: type, name, at: location, otherwise: reason)
    }
}

extension ArgumentFinder {
    private func values(
        of type: ArgumentType, _ name: String, at location: ArgumentLocation, otherwise reason: ArgumentKind
    ) -> [FoundArgument] {
        if let mangled = type.mangledName, let cases = enumerations.cases(of: mangled) {
            let value = type.enumeration(cases, at: location)
            return [FoundArgument(name: name, kind: value?.kind ?? reason, steps: value?.steps ?? [])]
        }
        return type.values(name, at: location, otherwise: reason)
    }
}

/// What made a unit of debug information.
private struct Producer {
    /// What is in the frame is described as if it were there before it is.
    var isLLVM = true
    /// By gcc, as far as it says.
    var isOptimized = true

    init() {}

    init(of unit: inout Dwarf_Die) {
        var attribute = Dwarf_Attribute()
        guard dwarf_attr(&unit, UInt32(DW_AT_producer), &attribute) != nil, let text = dwarf_formstring(&attribute)
        else { return }
        let words = String(cString: text).split(separator: " ")
        isLLVM = words.first != "GNU"
        let level = words.last { $0.hasPrefix("-O") }
        isOptimized = level != nil && level != "-O0"
    }
}
