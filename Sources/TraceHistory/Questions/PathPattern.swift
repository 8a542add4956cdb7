internal import TraceAnalysis

/// A call path that somebody asks for: patterns of its functions, from the root on. A name is a whole one.
struct PathPattern {
    private let patterns: [Pattern]

    init(_ names: [String]) throws(HistoryQuestionError) {
        var patterns: [Pattern] = []
        for name in names { patterns.append(try Pattern(asked: name, isWhole: true)) }
        self.patterns = patterns
    }

    /// The index of the first path that it matches.
    ///
    /// - Parameters:
    ///   - paths: callers come before their callees.
    ///   - caller: returns the index of a path's caller; negative for a root.
    ///   - name: returns the name of a path's function.
    /// - Complexity: O(paths).
    func firstIndex<Path>(in paths: [Path], caller: (Path) -> Int, name: (Path) -> String) -> Int? {
        // By path: how many of the patterns its functions match from the root on; -1 where they do not.
        var matched: [Int] = []
        matched.reserveCapacity(paths.count)
        for (index, path) in paths.enumerated() {
            let caller = caller(path)
            let next = caller < 0 ? 0 : matched[caller]
            let isNext = next >= 0 && next < patterns.count && patterns[next].matches(name(path))
            matched.append(isNext ? next + 1 : -1)
            if isNext, next + 1 == patterns.count { return index }
        }
        return nil
    }
}
