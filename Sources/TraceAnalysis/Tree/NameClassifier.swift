/// What the name patterns of a filter say about functions. This is found out once for each function.
final class NameClassifier {
    struct Match: OptionSet {
        let rawValue: UInt8
        static let only = Match(rawValue: 1)
        static let without = Match(rawValue: 2)
        static let leadingTo = Match(rawValue: 4)
        static let hidden = Match(rawValue: 8)
        static let watched = Match(rawValue: 16)
        /// It has a trigger.
        static let limiting = Match(rawValue: 32)
        fileprivate static let known = Match(rawValue: 128)
    }

    /// What a function's triggers say together. Of several, the last one decides.
    struct Limits {
        var levels: UInt32?
        /// Index in ``costs``; 0 for none.
        var minCost = 0
    }

    /// The least costs of triggers, in ns, behind one that stands for none.
    let costs: [UInt64]

    private let filter: TreeFilter
    private var limits: [UInt32: Limits] = [:]
    private let functions: FunctionTable
    /// Swift need not check that accesses exclude each other, which costs each call of a tree: none lasts while another begins.
    @exclusivity(unchecked) private var matches: [Match] = []

    init(_ filter: TreeFilter, _ functions: FunctionTable) {
        self.filter = filter
        costs = [0] + filter.triggers.compactMap(\.minCost)
        self.functions = functions
    }

    func match(_ function: UInt32) -> Match {
        let index = Int(function)
        if index < matches.count, matches[index].contains(.known) { return matches[index] }
        return classify(index)
    }

    @inline(never)
    private func classify(_ index: Int) -> Match {
        if index >= matches.count {
            matches.append(contentsOf: repeatElement([], count: functions.functions.count - matches.count))
        }
        let function = functions[UInt32(index)]
        var match = Match.known
        if filter.only.contains(where: { $0.matches(function) }) { match.insert(.only) }
        if filter.without.contains(where: { $0.matches(function) }) { match.insert(.without) }
        if filter.leadingTo.contains(where: { $0.matches(function) }) { match.insert(.leadingTo) }
        if filter.watch?.patterns.contains(where: { $0.matches(function) }) == true { match.insert(.watched) }
        if isHidden(function, UInt32(index)) { match.insert(.hidden) }
        var cost = 0
        for trigger in filter.triggers {
            if trigger.minCost != nil { cost += 1 }
            guard trigger.function.matches(function) else { continue }
            match.insert(.limiting)
            if let levels = trigger.levels { limits[UInt32(index), default: Limits()].levels = levels }
            if trigger.minCost != nil { limits[UInt32(index), default: Limits()].minCost = cost }
        }
        matches[index] = match
        return match
    }

    private func isHidden(_ function: ResolvedFunction, _ id: UInt32) -> Bool {
        if filter.hidesCompilerMade && function.isCompilerMade { return true }
        if filter.hidden.contains(where: { $0.matches(function) }) { return true }
        // Time in which a task waits is no function's, and has no place.
        if filter.places.isEmpty && filter.minSize == 0 || functions.isTime(id) { return false }
        return function.size.map { $0 < filter.minSize } == true || filter.places.hides(function.file)
    }

    /// What the triggers of a function say that has any.
    func limits(of function: UInt32) -> Limits { limits[function] ?? Limits() }
}

extension FunctionTable {
    /// Tells whether `patterns` match a function's name; each is asked once.
    public func matching(_ patterns: [Pattern]) -> (UInt32) -> Bool {
        var filter = TreeFilter()
        filter.only = patterns
        let classifier = NameClassifier(filter, self)
        return { classifier.match($0).contains(.only) }
    }

    /// What the name patterns of `filter` say of the functions from number `first` on, for who shows calls in another way than as a
    /// tree, as sums: 1 for those that are shown with what they call, 2 for those that are not, 4 for those that calls are to lead to, and
    /// 8 for those that are hidden.
    ///
    /// - Complexity: O(functions · patterns).
    public func marks(by filter: TreeFilter, from first: Int) -> [UInt8] {
        let classifier = NameClassifier(filter, self),
            told: NameClassifier.Match = [.only, .without, .leadingTo, .hidden]
        return (min(first, functions.count)..<functions.count).map {
            classifier.match(UInt32($0)).intersection(told).rawValue
        }
    }
}
