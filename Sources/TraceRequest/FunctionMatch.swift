public import TraceAnalysis
public import TraceFile
internal import TraceQuery
internal import TraceRecording
public import TraceSymbols
internal import TraceText

/// Which functions the record options mean, by the patterns and names by which the reading commands match.
public struct FunctionMatch {
    /// A pattern as it was given, and what is done with the functions that it matches.
    private struct Entry {
        let option: String
        let pattern: Pattern
        let rule: FunctionRule
        /// The arguments that are recorded; none: all are.
        var paths: [ArgumentPath] = []
        /// The number of a condition on arguments.
        var condition: Int?
    }

    private let entries: [Entry]
    private let places: [PlacePattern]
    private let conditions: [FunctionCondition]
    /// All that is done with whichever function.
    public let all: FunctionRule

    /// - Throws: ``Pattern/InvalidPattern``, ``PlacePattern/Invalid``, ``TriggerText/Invalid`` or ``ArgumentRequest/Invalid``, each described by a line.
    public init(_ options: FunctionOptions) throws {
        var entries: [Entry] = []
        let selections: [(String, [String], FunctionRule.Selection)] = [
            ("--filter", options.only, .only), ("--notrace", options.without, .without),
            ("--hide", options.hidden, .hidden), ("--caller-filter", options.leadingTo, .hit),
            ("--watch", options.watchesAll ? [] : options.watched, .hit),
        ]
        for (option, patterns, selection) in selections {
            for text in patterns {
                var rule = FunctionRule()
                rule.selection = selection
                entries.append(Entry(option: option, pattern: try Pattern(text), rule: rule))
            }
        }
        for text in options.triggers {
            let trigger = try TriggerText(text)
            var rule = FunctionRule()
            rule.trigger = trigger.trigger
            if trigger.hides { rule.selection.insert(.hidden) }
            entries.append(Entry(option: "--trigger", pattern: try Pattern(trigger.pattern), rule: rule))
        }
        for text in options.arguments {
            let request = try ArgumentRequest(text)
            var rule = FunctionRule()
            rule.recordsArguments = true
            entries.append(
                Entry(option: "--args", pattern: try Pattern(request.pattern), rule: rule, paths: request.paths))
        }
        for text in options.results {
            var rule = FunctionRule()
            rule.recordsResults = true
            entries.append(Entry(option: "--returns", pattern: try Pattern(text), rule: rule))
        }
        for (index, condition) in options.conditions.enumerated() {
            var rule = FunctionRule()
            rule.recordsArguments = true
            var entry = Entry(
                option: "--when", pattern: try Pattern(condition.pattern), rule: rule,
                paths: condition.comparisons.compactMap { ArgumentPath($0.name) })
            entry.condition = index
            entries.append(entry)
        }
        self.entries = entries
        conditions = options.conditions
        places = try options.places.map { try PlacePattern($0) }
        var all = entries.reduce(into: FunctionRule()) { $0.add($1.rule) }
        if !places.isEmpty { all.selection.insert(.hidden) }
        self.all = all
    }

    /// What is done with the calls of a function.
    private func rule(of name: String, in module: String, _ file: String?) -> FunctionRule {
        var rule = entries.reduce(into: FunctionRule()) {
            if $1.pattern.matches(name, module: module) { $0.add($1.rule) }
        }
        if places.hides(file) { rule.selection.insert(.hidden) }
        return rule
    }

    /// Those functions of a module with which anything is done. O(functions · patterns).
    public func functions(of module: ReportedFunctions) -> [NamedFunction] {
        module.functions.compactMap { function in
            let name = function.name.visible, rule = rule(of: name, in: module.path, function.file)
            return rule.isEmpty ? nil : NamedFunction(name: name, addresses: function.addresses, rule: rule)
        }
    }

    /// The arguments that are recorded of a function of this name; none: all are.
    private func paths(of name: String, in module: String) -> [ArgumentPath] {
        let matching = entries.filter { $0.rule.recordsArguments && $0.pattern.matches(name, module: module) }
        let paths = matching.flatMap(\.paths)
        return matching.contains(where: \.paths.isEmpty) ? (paths.isEmpty ? [] : [.all] + paths) : paths
    }

    /// The conditions on arguments of a function of this name.
    private func conditions(on name: String, in module: String) -> [(number: Int, condition: FunctionCondition)] {
        entries.compactMap { entry in
            entry.condition.flatMap { entry.pattern.matches(name, module: module) ? ($0, conditions[$0]) : nil }
        }
    }

    /// The same of functions that are called through slots: what the C library's well-known functions take is known.
    private func addLibraryArguments(_ functions: inout [NamedFunction], of module: ReportedFunctions) -> [String] {
        var mute: [NamedFunction] = []
        var asked: Set<ArgumentPath> = [], names: Set<String> = []
        for index in functions.indices where !functions[index].rule.hasNoValues {
            let function = functions[index]
            guard let prototype = LibraryPrototype(of: function.name, in: module.path) else {
                mute.append(function)
                continue
            }
            let paths = paths(of: function.name, in: module.path)
            asked.formUnion(paths.filter { $0 != .all })
            names.formUnion(prototype.argumentNames)
            let conditions = conditions(on: function.name, in: module.path)
            functions[index].arguments = function.addresses.flatMap { address in
                let arguments =
                    function.rule.recordsArguments ? prototype.arguments(named: paths.map(\.text), at: address) : nil
                let result = function.rule.recordsResults ? prototype.result(at: address) : nil
                return [arguments, result].compactMap { $0.map { ArgumentRecipe($0, conditions) } }
            }
        }
        // Other names of the same functions need not be known.
        let told = Set(functions.filter { !$0.arguments.isEmpty }.flatMap(\.addresses))
        let option = functions.contains(where: \.rule.recordsArguments) ? argumentOption : "--returns"
        mute.removeAll { !told.isDisjoint(with: $0.addresses) }
        var lines = warnings(functions, in: module.path)
        if !mute.isEmpty {
            let library = CommandText.line([PathText.name(module.path)])
            lines.insert("warning: \(option): it is not known what \(Self.named(mute)) of \(library) takes", at: 0)
        }
        return lines + unknown(asked.filter { !names.contains($0.text) }, among: names)
    }

    /// That no function has arguments of these names, a line each.
    private func unknown(_ paths: some Sequence<ArgumentPath>, among names: Set<String>) -> [String] {
        paths.sorted { $0.text < $1.text }.map { path in
            "warning: \(argumentOption): no function that is asked for has an argument \(CommandText.line([path.text]))"
                + NearNames(to: path.names[0], among: names.sorted()).question
        }
    }

    /// Says which conditions can hold for no call of some functions, a line for each condition.
    private func warnings(_ functions: [NamedFunction], in module: String) -> [String] {
        entries.compactMap { entry -> String? in
            guard let number = entry.condition else { return nil }
            let mute = functions.filter { function in
                entry.pattern.matches(function.name, module: module)
                    && !function.arguments.contains { $0.canTell(conditions[number]) }
            }
            guard let first = mute.first else { return nil }
            let asked = CommandText.line([conditions[number].text])
            return "warning: --when \(asked): the arguments of \(Self.named(mute)) cannot be compared so: "
                + (first.arguments.isEmpty
                    ? "nothing is known of them" : "they are optimized out, or of another type")
        }
    }

    /// The option that asks for arguments.
    private var argumentOption: String { entries.contains { $0.option == "--args" } ? "--args" : "--when" }

    /// Adds how the arguments and results of functions are found in their module.
    ///
    /// - Returns: what cannot be told of them, a line each.
    public func addArguments(_ functions: inout [NamedFunction], of module: ReportedFunctions) -> [String] {
        if module.isLibrary { return addLibraryArguments(&functions, of: module) }
        var wanted: ArgumentFinder.Wanted = [:]
        for function in functions where function.rule.recordsArguments {
            for address in function.addresses { wanted[address] = paths(of: function.name, in: module.path) }
        }
        let returning = functions.filter(\.rule.recordsResults)
        guard !wanted.isEmpty || !returning.isEmpty else { return [] }
        let results = Set(returning.flatMap(\.addresses))
        let detours = results.isEmpty || module.hasDetours ? [:] : Self.detours(of: module)
        guard
            let finder = try? ArgumentFinder(
                path: module.path, wanted: wanted, results: results, startsAtEntries: module.hasDetours,
                resultsAtEntries: results.intersection(detours.keys)),
            finder.hasDWARF
        else {
            let (option, what) = wanted.isEmpty ? ("--returns", "results") : (argumentOption, "arguments")
            return [
                "warning: \(option): \(CommandText.line([module.path])) has no debug information (-g), which says where \(what) are"
            ]
        }
        var sites: [UInt64: [TraceSymbols.ArgumentSite]] = [:]
        for site in finder.sites { sites[site.function, default: []].append(site) }
        for index in functions.indices where !functions[index].rule.hasNoValues {
            let conditions = conditions(on: functions[index].name, in: module.path)
            functions[index].arguments = functions[index].addresses.flatMap { address in
                sites[address, default: []].map { ArgumentRecipe($0, conditions) }
            }
        }
        let lines =
            Self.lacks(finder, functions, wanted.isEmpty ? "--returns" : argumentOption)
            + warnings(functions, in: module.path)
            + unknown(finder.unknown, among: finder.names)
            + Self.refusal(returning.filter { !finder.withHooks.isDisjoint(with: $0.addresses) })
        for address in finder.withDetours.sorted() {
            var function = NamedFunction(name: "", addresses: [address], rule: FunctionRule())
            (function.detour, function.hasHooks) = (detours[address], true)
            functions.append(function)
        }
        return lines
    }

    /// What cannot be shown because the debug information does not have it, a line for each way to lack it.
    private static func lacks(_ finder: ArgumentFinder, _ functions: [NamedFunction], _ option: String) -> [String] {
        finder.lacks.map { lack, starts in
            let mute = functions.filter { !starts.isDisjoint(with: $0.addresses) && !$0.rule.hasNoValues }
            return switch lack {
            case .arguments:
                "warning: \(option): the debug information of \(named(mute)) has no arguments; compile with -g, not -g1"
            case .file(let name):
                "warning: \(option): the debug information of \(named(mute)) is in \(CommandText.line([name])), which is not there (-gsplit-dwarf)"
            }
        }.sorted()
    }

    /// The first of them by name, and how many more there are.
    private static func named(_ functions: [NamedFunction]) -> String {
        let others = functions.count > 1 ? " and \(CountText.grouped(UInt64(functions.count - 1))) more" : ""
        return (functions.first?.name ?? "") + others
    }

    /// Where functions begin that can get a detour, and with which bytes: a hook is called before a function has its result.
    private static func detours(of module: ReportedFunctions) -> [UInt64: UInt64] {
        guard let found = try? DetourEntries(path: module.path, buildID: module.buildID, hasHooks: true) else {
            return [:]
        }
        return Dictionary(found.entries.map { ($0.address, $0.code) }, uniquingKeysWith: { first, _ in first })
    }

    private static func refusal(_ functions: [NamedFunction]) -> [String] {
        guard !functions.isEmpty else { return [] }
        return [
            "warning: --returns: \(named(functions)) cannot be asked for results, because hooks do not see them, and the first instructions cannot be moved for that; sleds see them: build with 'fathom build --dormant'"
        ]
    }

    /// Says what each option matches in these modules, a line each. A pattern that matches none may be for a
    /// library that is loaded later.
    public func lines(_ modules: [ReportedFunctions]) -> [String] {
        let names = Set(modules.flatMap { $0.functions.map(\.name.visible) })
        func text(_ what: String, _ count: Int) -> String {
            "\(what): \(CountText.grouped(UInt64(count))) function\(count == 1 ? "" : "s")"
        }
        let named = entries.flatMap { entry in
            let matching = modules.reduce(into: Set<String>()) { found, module in
                for function in module.functions where entry.pattern.matches(function.name.visible, module: module.path)
                {
                    found.insert(function.name.visible)
                }
            }
            if matching.isEmpty { return [Self.warning(entry.option, entry.pattern, names)] }
            let what = "\(entry.option) \(CommandText.line([entry.pattern.text]))"
            return [text(what, matching.count)] + (entry.pattern.severalNames(among: matching).map { [$0] } ?? [])
        }
        let files = modules.flatMap { $0.functions.map(\.file) }
        return named
            + places.map { place in
                let what = "--source \(CommandText.line([place.text]))", count = files.count(where: place.matches)
                if count > 0 { return text(what, count) }
                let known = Set(files.compactMap { $0.map(PathText.name) })
                return "warning: \(what): no function of the program and the libraries that it needs is defined there"
                    + (known.isEmpty
                        ? "; the debug information (-g) is missing that says where they are"
                        : NearNames(to: place.askedName, among: known.sorted()).question)
            }
    }

    /// That a pattern matches none of these names.
    public static func warning(_ option: String, _ pattern: Pattern, _ names: Set<String>) -> String {
        "warning: \(option) \(CommandText.line([pattern.text])) matches no function of the program or the libraries that it needs"
            + NearNames(to: pattern, of: names.sorted()).question
    }
}

extension FunctionRule {
    fileprivate var hasNoValues: Bool { !recordsArguments && !recordsResults }

    fileprivate mutating func add(_ other: FunctionRule) {
        selection.formUnion(other.selection)
        trigger.add(other.trigger)
        recordsArguments = recordsArguments || other.recordsArguments
        recordsResults = recordsResults || other.recordsResults
    }
}
