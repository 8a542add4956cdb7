public import TraceAnalysis

/// Which functions a candidate calls more or less often than a baseline does, and which allocate more or fewer blocks.
public struct GateCounts: Sendable {
    public typealias Identity = IdentifiedFunctions.Identity

    public struct Difference: Sendable {
        /// What there are more or fewer of: calls of the function, or blocks that it allocated itself.
        public enum What: String, Sendable { case calls, allocations }

        public var what: What
        public var function: Identity
        public var before: UInt64
        public var after: UInt64
        /// Whether a caller's number of calls explains it, or of allocations the function's own.
        public var follows: Bool
    }

    /// Those that are called more often or less; first those that no other one explains, most calls first.
    public let differences: [Difference]
    /// Functions whose number of calls varies by itself, in the baseline or the candidate, and so tells nothing.
    public let varying: [Identity]
    public let baselineRuns: Int
    /// Whether allocations are compared, too: where the newest run of the baseline and the candidate have them.
    public let comparesAllocations: Bool

    /// - Parameters:
    ///   - baseline: the oldest first; not empty. The candidate is compared with the newest one, the others tell what varies.
    ///   - again: another run of the candidate; what differs there by as much as it has grown varies by itself, too.
    ///   - limit: how many more calls of a function do not matter: 0.05 is 5 %.
    /// - Complexity: O(paths of all runs).
    public init(baseline: [RunContent], candidate: RunContent, again: RunContent? = nil, limit: Double) {
        baselineRuns = baseline.count
        var catalog = PathCatalog()
        let after = Calls(candidate, &catalog)
        let second = again.map { Calls($0, &catalog) }
        let all = baseline.map { Calls($0, &catalog) }
        let newest = all[all.count - 1]
        let begins = GateCounts.origins(newest, after, catalog)
        var varying: [Identity] = []
        var found: [Difference] = []
        func compare(_ what: Difference.What, _ id: Int, among all: [Calls], follows: Bool) {
            func number(_ calls: Calls) -> UInt64 { calls.number(of: what, id) }
            let (before, now) = (number(newest), number(after))
            guard before != now else { return }
            // Steps between versions are no noise; numbers that go up and down are.
            // A growth beyond what two runs of the candidate differ by is one.
            let other = second.map(number) ?? now
            let (least, most) = (min(now, other), max(now, other))
            let variesNow = least != most && !(least > before && least - before > most - least)
            let function = catalog.functions[id]
            if variesNow || ChangeSearch.steps(of: all.map { Double(number($0)) }) == nil {
                if varying.last != function { varying.append(function) }
                return
            }
            let isLarge = least < before || before == 0 || Double(least - before) > limit * Double(before)
            if isLarge {
                found.append(
                    Difference(what: what, function: function, before: before, after: least, follows: follows))
            }
        }
        comparesAllocations = baseline[baseline.count - 1].tellsAllocations && candidate.tellsAllocations
        let allocating = comparesAllocations ? zip(baseline, all).filter(\.0.tellsAllocations).map(\.1) : []
        for id in catalog.functions.indices {
            compare(.calls, id, among: all, follows: !begins.contains(id))
            guard comparesAllocations else { continue }
            let isCalledOtherwise = newest.ofFunction(id) != after.ofFunction(id)
            compare(.allocations, id, among: allocating, follows: isCalledOtherwise)
        }
        func size(_ difference: Difference) -> UInt64 {
            max(difference.before, difference.after) - min(difference.before, difference.after)
        }
        differences = found.sorted { left, right in
            if left.follows != right.follows { return !left.follows }
            return (size(left), right.function.name) > (size(right), left.function.name)
        }
        self.varying = varying.sorted { $0.name < $1.name }
    }

    /// Whether a function is called more often, or allocates more blocks.
    public var isWorse: Bool { differences.contains { $0.after > $0.before } }

    /// The numbers of calls in one run, by the numbers of a catalog.
    private struct Calls {
        private var functions: [UInt64] = []
        private var allocations: [UInt64] = []
        private var paths: [UInt64] = []

        init(_ content: RunContent, _ catalog: inout PathCatalog) {
            let ids = content.functions.map { catalog.add($0.identity) }
            functions = [UInt64](repeating: 0, count: catalog.functions.count)
            allocations = functions
            for (id, function) in zip(ids, content.functions) {
                functions[Int(id)] += function.sums.calls
                allocations[Int(id)] += function.allocations
            }
            var numbers: [UInt32] = []
            for path in content.paths {
                let caller = path.caller < 0 ? 0 : numbers[path.caller] + 1
                let number = catalog.number(ofCaller: caller, function: ids[path.function])
                numbers.append(number)
                if Int(number) >= paths.count {
                    paths += repeatElement(0, count: Int(number) + 1 - paths.count)
                }
                paths[Int(number)] += path.sums.calls
            }
        }

        func number(of what: Difference.What, _ id: Int) -> UInt64 {
            switch what {
            case .calls: ofFunction(id)
            case .allocations: id < allocations.count ? allocations[id] : 0
            }
        }

        func ofFunction(_ id: Int) -> UInt64 { id < functions.count ? functions[id] : 0 }
        func ofPath(_ id: Int) -> UInt64 { id < paths.count ? paths[id] : 0 }
    }

    /// The functions at which paths change whose callers' numbers of calls are the same.
    private static func origins(_ before: Calls, _ after: Calls, _ catalog: PathCatalog) -> Set<Int> {
        func differs(_ path: Int) -> Bool { before.ofPath(path) != after.ofPath(path) }
        var origins: Set<Int> = []
        for (id, path) in catalog.paths.enumerated() where differs(id) {
            if path.caller == 0 || !differs(Int(path.caller - 1)) { origins.insert(Int(path.function)) }
        }
        return origins
    }
}
