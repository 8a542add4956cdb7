internal import TraceAnalysis

/// Functions in groups that have colours of their own.
struct FlameGroups {
    /// Names of the groups, those with the most own time first: they have the colours that differ most.
    let names: [String]
    /// By number of the function: index in `names`.
    let of: [Int]
    /// The part of all own time that the first group has, 0...1.
    let greatestPart: Double

    /// - Parameters:
    ///   - keys: the name of each function's group.
    ///   - weights: the own time of each function, in ns.
    /// - Complexity: O(functions), and O(n log n) for the number of groups.
    init(_ keys: [String], weights: [UInt64]) {
        var sums: [String: UInt64] = [:]
        for (key, weight) in zip(keys, weights) { sums[key, default: 0] &+= weight }
        names = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        let all = sums.values.reduce(0, &+)
        greatestPart = all > 0 ? Double(names.first.flatMap { sums[$0] } ?? 0) / Double(all) : names.count > 1 ? 0 : 1
        let numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        of = keys.map { numbers[$0]! }
    }

    static func module(_ function: ResolvedFunction) -> String {
        guard let path = function.module else { return "no module" }
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// The language of a function, by its source file's ending, or by what its name tells.
    static func kind(_ function: ResolvedFunction) -> String {
        let file = function.file?.split(separator: "/").last
        switch file?.split(separator: ".").dropFirst().last {
        case "c": return "C"
        case "cc", "cpp", "cxx", "C", "hpp", "hh", "tcc", "ipp": return "C++"
        case "swift": return "Swift"
        case "rs": return "Rust"
        default: return function.name.contains("::") ? "C++" : function.file == nil ? "no source" : "C"
        }
    }

    /// The outermost namespace or type of a function.
    static func namespace(_ function: ResolvedFunction) -> String {
        let none = "no namespace"
        let anonymous = "(anonymous namespace)"
        // `closure #1 in Parser.run()` is of Parser, `static Math.run()` of Math.
        var name = FlameLabel.folded(function.name)[...]
        if name.hasPrefix(anonymous) { return anonymous }
        while let inner = name.firstRange(of: " in ") { name = name[inner.upperBound...] }
        name = name.prefix { $0 != "(" }
        if let space = name.lastIndex(of: " ") { name = name[name.index(after: space)...] }
        if let colons = name.firstRange(of: "::") { return String(name[..<colons.lowerBound]) }
        guard function.isSwift || kind(function) == "Swift", let dot = name.firstIndex(of: "."), dot > name.startIndex
        else { return none }
        return String(name[..<dot])
    }

    /// Source files, without the directories that they all lie in.
    static func files(_ functions: [ResolvedFunction]) -> [String] {
        let paths = functions.map { $0.file?.split(separator: "/", omittingEmptySubsequences: false) }
        let known = paths.compactMap(\.self)
        var shared = known.first.map { $0.count - 1 } ?? 0
        for path in known {
            shared = min(shared, path.count - 1)
            while path[..<shared] != known[0][..<shared] { shared -= 1 }
        }
        return paths.map { $0.map { $0[shared...].joined(separator: "/") } ?? FlameGroups.noFile }
    }

    /// The group of functions whose file is not known.
    static let noFile = "no source"
}
