public import TraceAnalysis

/// Chooses the functions that the next build is to leave without hooks: those that are called most, are short, and hold
/// little time.
///
/// The loss is measured in call paths, each of which counts as much as its total time. A call within another call of
/// its function is counted there already, as in the total of ``CallPathTree/rows(by:)``, so a function is worth its
/// total. Without the function's hooks, its paths are gone, the paths of its callees move up to its callers, and its
/// self time becomes its callers'. Totals of functions that keep their hooks do not change.
public struct HookTuning {
    public struct Limits: Sendable {
        /// Percent of the total times of call paths that must stay, of all call paths but those of system headers.
        public var keep = 95.0
        /// In ns: functions whose calls take this long on average keep their hooks.
        public var shorterThan: UInt64 = 100
        /// The part of all calls, but those of system headers, that one line of the list must save at least.
        public var leastSaving = 0.001

        public init() {}
    }

    /// How the list and the compilers understand names.
    public struct Language {
        /// The pattern that leaves out a function; nil when there is none.
        public var pattern: (ResolvedFunction) -> String?
        /// Whether a pattern leaves out a function of this name with any of the compilers.
        public var leavesOut: (_ pattern: String, _ name: String) -> Bool
        /// Patterns that leave out all functions of a file or of a namespace.
        public var groups: Groups

        public init(
            pattern: @escaping (ResolvedFunction) -> String?,
            leavesOut: @escaping (_ pattern: String, _ name: String) -> Bool, groups: Groups = .none
        ) {
            self.pattern = pattern
            self.leavesOut = leavesOut
            self.groups = groups
        }
    }

    /// How the list understands files and namespaces.
    public struct Groups {
        /// The patterns of the file and the namespaces that a function belongs to.
        public var patterns: (ResolvedFunction) -> [String]
        /// Whether a pattern leaves out a function with any of the compilers.
        public var leavesOut: (_ pattern: String, ResolvedFunction) -> Bool
        /// The pattern of the system headers that a function is from; nil when the function is the project's, or is to
        /// be treated as such.
        public var systemHeaders: (ResolvedFunction) -> String?

        public init(
            patterns: @escaping (ResolvedFunction) -> [String],
            leavesOut: @escaping (_ pattern: String, ResolvedFunction) -> Bool,
            systemHeaders: @escaping (ResolvedFunction) -> String?
        ) {
            self.patterns = patterns
            self.leavesOut = leavesOut
            self.systemHeaders = systemHeaders
        }

        public static var none: Groups {
            Groups(patterns: { _ in [] }, leavesOut: { _, _ in false }, systemHeaders: { _ in nil })
        }
    }

    /// Times in ns.
    public struct Sums: Sendable, Equatable {
        public var calls: UInt64 = 0
        /// The total time of call paths. Calls within calls of the same function do not count again.
        public var total: UInt64 = 0
        public var selfTime: UInt64 = 0

        mutating func add(_ other: Sums) {
            calls &+= other.calls
            total &+= other.total
            selfTime &+= other.selfTime
        }

        fileprivate static func - (all: Sums, part: Sums) -> Sums {
            Sums(
                calls: all.calls &- part.calls, total: all.total &- part.total,
                selfTime: all.selfTime &- part.selfTime)
        }

        /// Whether its part of the self time is no more than twice its part of the calls. Tracing costs time for each call.
        fileprivate func isCheap(in all: Sums) -> Bool {
            Double(selfTime) * Double(all.calls) <= 2 * Double(calls) * Double(all.selfTime)
        }
    }

    /// What is left out for one pattern.
    public struct Exclusion: Sendable {
        public let pattern: String
        /// Patterns of other functions, which some compilers leave out together with this one. With these patterns, all
        /// compilers do.
        public let others: [String]
        /// Names of the functions that are left out, except those that an earlier exclusion leaves out already.
        public let names: [String]
        public let sums: Sums
        /// Whether these are functions of system headers, which are left out however long they take.
        public let isOfSystemHeaders: Bool
    }

    /// A function that keeps its hooks only because its pattern would also leave out another function.
    public struct Obstacle: Sendable {
        public let pattern: String
        public let calls: UInt64
        /// The name of the other function.
        public let name: String
    }

    /// What a lower limit would leave out besides.
    public struct Further: Sendable, Equatable {
        /// The percentage to keep, rounded down.
        public let keep: Int
        /// Patterns that each leave out at least 5 % of all calls but those of system headers, and the calls of each.
        public let patterns: [(pattern: String, calls: UInt64)]

        public static func == (left: Further, right: Further) -> Bool {
            left.keep == right.keep && left.patterns.elementsEqual(right.patterns, by: ==)
        }
    }

    /// The number of Swift functions that are short and often called. No pattern leaves those out.
    public let swiftFunctions: Int
    /// The exclusions in the order in which they were chosen: the most calls for the least time first.
    public let exclusions: [Exclusion]
    public let obstacles: [Obstacle]
    /// What would go if less had to stay; nil when that is little, or when half of the time would go with it.
    public let further: Further?
    /// The sums of all functions, of those left out, and of those left out that are from system headers.
    public let all: Sums
    public let excluded: Sums
    public let systemHeaders: Sums
    /// The cost of tracing that was taken out of all times; nil when they are as they were recorded.
    public let cost: TracingCost?
    public let limits: Limits

    /// The percentage of the total times of call paths that stays, among those that are not of system headers. It is
    /// rounded down to hundredths, so it is never more than is true.
    public var keptPercent: Double {
        HookTuning.percent(all.total &- excluded.total, of: all.total &- systemHeaders.total)
    }
    /// The percentage of the time whose innermost function keeps its hooks. The time of the others becomes their
    /// callers'.
    public var keptSelfPercent: Double { HookTuning.percent(all.selfTime &- excluded.selfTime, of: all.selfTime) }

    /// Chooses greedily by the calls saved for the total time lost (G. Dantzig, Discrete-Variable Extremum Problems,
    /// 1957). Roots keep their hooks: without them a thread has no tree.
    ///
    /// - Parameter tree: call paths of the whole recording.
    /// - Complexity: O(paths + c · f), where c of the f functions save enough.
    public init(_ tree: CallPathTree, limits: Limits, language: Language) {
        self.limits = limits
        cost = tree.cost
        let functions = NamedFunctions(tree)
        var all = Sums()
        for function in functions.list { all.add(function.sums) }
        self.all = all

        var excluded = Sums()
        var isExcluded = [Bool](repeating: false, count: functions.list.count)
        func exclude(_ candidate: TuningCandidate, isOfSystemHeaders: Bool = false) -> Exclusion {
            let fresh = candidate.hits.filter { !isExcluded[$0] }
            let sums = functions.sums(of: fresh)
            excluded.add(sums)
            for hit in fresh { isExcluded[hit] = true }
            return Exclusion(
                pattern: candidate.pattern,
                others: candidate.isGroup ? [] : candidate.others(among: fresh, functions, language),
                names: fresh.map { functions.list[$0].function.name }, sums: sums, isOfSystemHeaders: isOfSystemHeaders)
        }
        let system = TuningCandidate.ofSystemHeaders(functions, language).map { exclude($0, isOfSystemHeaders: true) }
        let systemHeaders = excluded
        let rest = all - systemHeaders

        let leastCalls = UInt64((Double(rest.calls) * limits.leastSaving).rounded(.up))
        var candidates = TuningCandidate.groups(functions, language, limits, leastCalls: leastCalls) { isExcluded[$0] }
        var obstacles: [Obstacle] = []
        var seen: Set<String> = []
        var swiftFunctions = 0
        for (number, function) in functions.list.enumerated() where !isExcluded[number] {
            guard function.isShort(limits), function.sums.calls >= leastCalls else { continue }
            if function.function.isSwift {
                swiftFunctions += 1
                continue
            }
            guard let pattern = language.pattern(function.function), seen.insert(pattern).inserted else { continue }
            let hits = functions.list.indices.filter { $0 == number || functions.list[$0].isHit(pattern, language) }
            if let other = hits.first(where: { !isExcluded[$0] && !functions.list[$0].isShort(limits) }) {
                let name = functions.list[other].function.name
                obstacles.append(Obstacle(pattern: pattern, calls: function.sums.calls, name: name))
            } else {
                candidates.append(TuningCandidate(pattern: pattern, hits: hits, functions: functions))
            }
        }
        candidates.sort { $0.isBetter(than: $1) }

        // What a group leaves out anyway needs no line of its own.
        var chosen: [TuningCandidate] = []
        var room = UInt64((Double(rest.total) * (100 - limits.keep) / 100).rounded(.down))
        var isChosen = isExcluded
        var tooLong: [TuningCandidate] = []
        for candidate in candidates {
            let fresh = candidate.hits.filter { !isChosen[$0] }
            let sums = functions.sums(of: fresh)
            guard sums.calls >= max(leastCalls, 1), sums.isCheap(in: rest),
                !candidate.isGroup || sums.total / sums.calls < limits.shorterThan
            else { continue }
            guard sums.total <= room else {
                tooLong.append(candidate)
                continue
            }
            room -= sums.total
            for hit in fresh { isChosen[hit] = true }
            if candidate.isGroup {
                let hits = Set(candidate.hits)
                chosen.removeAll { hits.isSuperset(of: $0.hits) }
            }
            chosen.append(candidate)
        }
        further = Further(tooLong, functions, rest: rest, isChosen: isChosen)
        let exclusions = system + chosen.map { exclude($0) }
        self.systemHeaders = systemHeaders
        self.swiftFunctions = swiftFunctions
        self.exclusions = exclusions
        self.excluded = excluded
        let named = Set(exclusions.flatMap(\.names))
        self.obstacles = obstacles.filter { obstacle in
            !named.contains { language.leavesOut(obstacle.pattern, $0) }
        }.sorted { ($0.calls, $1.pattern) > ($1.calls, $0.pattern) }
    }

    private static func percent(_ part: UInt64, of whole: UInt64) -> Double {
        whole == 0 ? 100 : (Double(part) / Double(whole) * 10_000).rounded(.down) / 100
    }
}

extension HookTuning.Further {
    /// - Parameters:
    ///   - candidates: those for which there was no room, in the order in which they would be chosen.
    ///   - rest: the sums of all functions but those of system headers.
    ///   - isChosen: of each function, whether it is left out already.
    fileprivate init?(
        _ candidates: [TuningCandidate], _ functions: NamedFunctions, rest: HookTuning.Sums, isChosen: [Bool]
    ) {
        let chosen = functions.sums(of: isChosen.indices.filter { isChosen[$0] })
        let all = functions.sums(of: Array(isChosen.indices))
        var left = all.total &- chosen.total
        var isChosen = isChosen
        var found: (keep: Int, patterns: [(pattern: String, calls: UInt64)]) = (100, [])
        for candidate in candidates {
            let fresh = candidate.hits.filter { !isChosen[$0] }
            let sums = functions.sums(of: fresh)
            for hit in fresh { isChosen[hit] = true }
            left -= sums.total
            let keep = Int(Double(left) / Double(rest.total) * 100)
            guard keep >= 50 else { break }
            if sums.calls > 0, sums.calls >= rest.calls / 20 {
                found = (keep, found.patterns + [(candidate.pattern, sums.calls)])
            }
        }
        guard !found.patterns.isEmpty else { return nil }
        (keep, patterns) = found
    }
}
