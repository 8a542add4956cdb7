/// The names that the user may have meant by a name that does not exist.
public struct NearNames: Equatable, Sendable {
    /// The nearest first, three at most.
    public let names: [String]

    public static let none = NearNames(names: [])

    private init(names: [String]) { self.names = names }

    /// Looks for names that differ in a letter of three from `name`, or that begin with it or hold it. Case does not
    /// count.
    ///
    /// - Parameters:
    ///   - name: what was written, without the marks of a pattern.
    ///   - candidates: the names that there are; each is told once.
    ///   - spellings: the ways in which a candidate may have been meant.
    /// - Complexity: O(length of `name` · length of all spellings).
    public init(
        to name: String, among candidates: some Sequence<String>,
        spelled spellings: (String) -> [Substring] = { [$0[...]] }
    ) {
        let wanted = Array(name.lowercased().utf8)
        var seen: Set<String> = []
        var found: [(distance: Distance, order: Int, name: String)] = []
        for (order, candidate) in candidates.enumerated() {
            let distances = spellings(candidate).compactMap { spelling in
                NearNames.distance(from: wanted, to: Array(spelling.lowercased().utf8))
            }
            guard let distance = distances.min(), seen.insert(candidate).inserted else { continue }
            found.append((distance, order, candidate))
        }
        names = found.sorted { ($0.distance, $0.order) < ($1.distance, $1.order) }.prefix(3).map(\.name)
    }

    /// `; did you mean a, b or c?`, or nothing when no name is near.
    public var question: String {
        guard let last = names.last else { return "" }
        let others = names.dropLast().joined(separator: ", ")
        return "; did you mean \(others.isEmpty ? "" : others + " or ")\(last)?"
    }

    // MARK: Distance

    /// How far a name is: by letters that differ, or else by letters that are missing.
    private enum Distance: Comparable {
        case misspelt(Int)
        case begun(Int)
        case held(Int)
    }

    /// Nil when the names are too far apart.
    private static func distance(from wanted: [UInt8], to name: [UInt8]) -> Distance? {
        let limit = min(wanted.count / 3, 3)
        if abs(name.count - wanted.count) <= limit {
            let edits = edits(from: wanted, to: name)
            if edits <= limit { return .misspelt(edits) }
        }
        let missing = name.count - wanted.count
        guard missing > 0, wanted.count >= 2 else { return nil }
        if name.starts(with: wanted) { return .begun(missing) }
        guard wanted.count >= 3 else { return nil }
        let isHeld = (1...missing).contains { start in name[start...].starts(with: wanted) }
        return isHeld ? .held(missing) : nil
    }

    /// The number of letters to replace, insert, leave out or swap with their neighbour to make `other` of `name`: F. J.
    /// Damerau's distance (Communications of the ACM 7, 1964), no letter being touched twice.
    static func edits(from name: [UInt8], to other: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for (i, letter) in name.enumerated() {
            var row = [i + 1]
            for (j, otherLetter) in other.enumerated() {
                var least = min(last[j] + (letter == otherLetter ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, letter == other[j - 1], name[i - 1] == otherLetter {
                    least = min(least, beforeLast[j - 1] + 1)
                }
                row.append(least)
            }
            (beforeLast, last) = (last, row)
        }
        return last[other.count]
    }
}
