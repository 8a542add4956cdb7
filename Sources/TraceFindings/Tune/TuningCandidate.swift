internal import TraceAnalysis

/// What a line of the list may leave out: a function, or all those of a file, a namespace or system headers.
struct TuningCandidate {
    let pattern: String
    /// Numbers of the functions that it leaves out.
    let hits: [Int]
    /// Whether it stands for a file or a namespace, not for one function.
    var isGroup = false
    private(set) var sums = HookTuning.Sums()

    init(pattern: String, hits: [Int], functions: NamedFunctions, isGroup: Bool = false) {
        self.pattern = pattern
        self.hits = hits
        self.isGroup = isGroup
        sums = functions.sums(of: hits)
    }

    /// All functions of system headers whose patterns would leave out no others.
    static func ofSystemHeaders(_ functions: NamedFunctions, _ language: HookTuning.Language) -> [TuningCandidate] {
        var patterns: Set<String> = []
        for named in functions.list where !named.function.isSwift {
            if let pattern = language.groups.systemHeaders(named.function) { patterns.insert(pattern) }
        }
        return patterns.sorted().compactMap { pattern in
            let hits = functions.hits(ofGroup: pattern, language)
            guard hits.allSatisfy({ language.groups.systemHeaders(functions.list[$0].function) != nil }) else {
                return nil
            }
            return TuningCandidate(pattern: pattern, hits: hits, functions: functions, isGroup: true)
        }.filter { $0.sums.calls > 0 }
    }

    /// Files and namespaces whose calls are short on average, and that hold more than one function and no root.
    static func groups(
        _ functions: NamedFunctions, _ language: HookTuning.Language, _ limits: HookTuning.Limits, leastCalls: UInt64,
        isExcluded: (Int) -> Bool
    ) -> [TuningCandidate] {
        var calls: [String: UInt64] = [:]
        for (number, named) in functions.list.enumerated() where !named.function.isSwift && !isExcluded(number) {
            for pattern in language.groups.patterns(named.function) { calls[pattern, default: 0] &+= named.sums.calls }
        }
        return calls.filter { $0.value >= max(leastCalls, 1) }.keys.sorted().compactMap { pattern in
            let hits = functions.hits(ofGroup: pattern, language).filter { !isExcluded($0) }
            guard hits.count > 1, !hits.contains(where: { functions.list[$0].isRoot }) else { return nil }
            let candidate = TuningCandidate(pattern: pattern, hits: hits, functions: functions, isGroup: true)
            let (calls, total) = (candidate.sums.calls, candidate.sums.total)
            return total / max(calls, 1) < limits.shorterThan ? candidate : nil
        }
    }

    /// Whether this one saves more calls for less time. One that costs no time at all is best.
    func isBetter(than other: TuningCandidate) -> Bool {
        let (left, right) = (
            Double(sums.calls) * Double(other.sums.total), Double(other.sums.calls) * Double(sums.total)
        )
        if left != right { return left > right }
        if sums.calls != other.sums.calls { return sums.calls > other.sums.calls }
        if isGroup != other.isGroup { return isGroup }
        return pattern < other.pattern
    }

    /// Patterns of `hits` that leave out nothing beyond this one's.
    func others(among fresh: [Int], _ functions: NamedFunctions, _ language: HookTuning.Language) -> [String] {
        var patterns: Set<String> = []
        for hit in fresh {
            guard let other = language.pattern(functions.list[hit].function), other != pattern else { continue }
            let isWithin = functions.list.indices.allSatisfy {
                !functions.list[$0].isHit(other, language) || hits.contains($0)
            }
            if isWithin { patterns.insert(other) }
        }
        return patterns.sorted()
    }
}
