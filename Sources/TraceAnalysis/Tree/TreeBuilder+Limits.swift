/// How deep calls, or call paths, lie, where triggers of a ``TreeFilter`` may say how deep they are shown.
struct DepthLimit {
    /// How many levels below are shown; nil where the filter's greatest depth holds.
    var levels: UInt32?
    /// Whether it lies too deep to be shown or, if it is transparent, its caller does.
    var isTooDeep = false

    /// Goes on from a caller to what it calls.
    ///
    /// - Parameter own: the levels that the function's own triggers say.
    mutating func enter(_ role: TreeBuilder.Role, own: UInt32?, depth: UInt32, maxDepth: UInt32) {
        guard role == .candidate || role == .transparent else { return }
        if let own {
            // What is transparent has no level of its own, and what is above it stays as it is.
            levels = own
            if role == .candidate { isTooDeep = false }
        } else if role == .candidate {
            isTooDeep = levels.map { $0 == 0 } ?? (depth > maxDepth)
            levels = levels.map { $0 == 0 ? 0 : $0 - 1 }
        }
    }
}

/// The limits that triggers set.
extension TreeBuilder {
    /// What triggers say of a call, and of those below it.
    @inline(never)
    func limit(_ caller: Standing, _ role: Role, _ own: NameClassifier.Limits?, depth: UInt32) -> UInt32 {
        // Where nothing is shown yet, or any more, functions change nothing.
        guard role == .candidate || role == .transparent else { return 0 }
        var below = DepthLimit(levels: caller.levels, isTooDeep: caller.isTooDeep)
        below.enter(role, own: own?.levels, depth: depth, maxDepth: filter.maxDepth)
        return Standing.limits(
            isKept: own != nil && role == .candidate && !below.isTooDeep, isTooDeep: below.isTooDeep,
            minCost: own.map { $0.minCost == 0 ? caller.minCost : $0.minCost } ?? caller.minCost, levels: below.levels)
    }

    /// Whether the filter shows a call, for which triggers set other limits. If not, it counts as hidden in the call above.
    ///
    /// Of a call that lies too deep, `hidden.time` is the time of those below it that are shown all the same: it is what is
    /// not hidden of the call.
    @inline(never)
    mutating func applyLimits(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, cost: UInt64, total: UInt64
    ) -> Bool {
        let caller = call - 1
        let standing = call.pointee.payload.standing
        let isShown = keeps(call, cost) && !(cost < leastOfLongest || cost == tie && !isKept(call))
        let isBelowHidden = caller.pointee.payload.standing.isTooDeep
        if standing.isKept, isShown || standing.isTooDeep { caller.pointee.payload.standing.keep() }
        if isShown {
            if isBelowHidden { caller.pointee.payload.hidden.time &+= total }
            return true
        }
        let shown = standing.isTooDeep ? min(call.pointee.payload.hidden.time, total) : 0
        let calls = 1 &+ call.pointee.payload.hidden.calls
        if isBelowHidden {
            caller.pointee.payload.hidden.add(CallSum(calls: calls, time: shown))
        } else {
            hide(CallSum(calls: calls, time: total &- shown), below: caller)
        }
        return false
    }

    /// Whether a call is neither too deep nor too short.
    func keeps(_ call: UnsafeMutablePointer<OpenCall<Payload>>, _ cost: UInt64) -> Bool {
        let standing = call.pointee.payload.standing
        guard limits else { return cost >= filter.minCost && call.pointee.payload.depth <= filter.maxDepth }
        if standing.isTooDeep || standing.isKept { return !standing.isTooDeep }
        let index = (call - 1).pointee.payload.standing.minCost
        let costs = classifier?._withUnsafeGuaranteedRef { $0.costs }
        return cost >= (index == 0 ? filter.minCost : costs?[index] ?? 0)
    }
}
