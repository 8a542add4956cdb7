/// What the name patterns of a filter say of functions, for who shows calls in another way than as a tree.
public struct FilterMarks: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let only = FilterMarks(rawValue: 1)
    public static let without = FilterMarks(rawValue: 2)
    public static let leadingTo = FilterMarks(rawValue: 4)
    public static let hidden = FilterMarks(rawValue: 8)
}

extension FunctionTable {
    /// What `filter` says of the functions from number `first` on.
    ///
    /// - Complexity: O(functions · patterns).
    public func marks(by filter: TreeFilter, from first: Int) -> [FilterMarks] {
        let classifier = NameClassifier(filter, self)
        return (min(first, functions.count)..<functions.count).map { id in
            let match = classifier.match(UInt32(id))
            let pairs: [(NameClassifier.Match, FilterMarks)] = [
                (.only, .only), (.without, .without), (.leadingTo, .leadingTo), (.hidden, .hidden),
            ]
            return pairs.reduce(into: []) { if match.contains($1.0) { $0.insert($1.1) } }
        }
    }
}
