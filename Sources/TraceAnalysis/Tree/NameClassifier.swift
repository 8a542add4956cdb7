/// What the name patterns of a filter say about functions. This is found out once for each function.
final class NameClassifier {
    struct Match: OptionSet {
        let rawValue: UInt8
        static let only = Match(rawValue: 1)
        static let without = Match(rawValue: 2)
        static let leadingTo = Match(rawValue: 4)
        static let hidden = Match(rawValue: 8)
        static let watched = Match(rawValue: 16)
        fileprivate static let known = Match(rawValue: 128)
    }

    private let filter: TreeFilter
    private let functions: FunctionTable
    /// Swift need not check that accesses exclude each other, which costs each call of a tree: none lasts while another begins.
    @exclusivity(unchecked) private var matches: [Match] = []

    init(_ filter: TreeFilter, _ functions: FunctionTable) {
        self.filter = filter
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
        let name = function.name
        var match = Match.known
        if filter.only.contains(where: { $0.matches(name) }) { match.insert(.only) }
        if filter.without.contains(where: { $0.matches(name) }) { match.insert(.without) }
        if filter.leadingTo.contains(where: { $0.matches(name) }) { match.insert(.leadingTo) }
        if filter.watch?.patterns.contains(where: { $0.matches(name) }) == true { match.insert(.watched) }
        if filter.hidesCompilerMade && function.isCompilerMade || filter.hidden.contains(where: { $0.matches(name) }) {
            match.insert(.hidden)
        }
        matches[index] = match
        return match
    }
}

extension FunctionTable {
    /// Tells whether `patterns` match a function's name; each is asked once.
    public func matching(_ patterns: [Pattern]) -> (UInt32) -> Bool {
        var filter = TreeFilter()
        filter.only = patterns
        let classifier = NameClassifier(filter, self)
        return { classifier.match($0).contains(.only) }
    }
}
