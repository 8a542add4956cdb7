internal import TraceFile

extension CallPathTree {
    /// The paths that the name and depth limits of `filter` keep. Paths that become equal are added up.
    ///
    /// The filter means the same as for a ``CallTree``, but path by path: every call of a path that leads to a function
    /// counts as leading there. Times of calls are not limited here: `minCost` is for rows, and those of triggers are kept beside
    /// the paths, which ``isLong(_:least:)`` tells.
    ///
    /// - Complexity: O(n log n) in the number of paths.
    public func filtered(_ filter: TreeFilter) -> CallPathTree {
        guard filter.usesNames || filter.maxDepth != .max else { return self }
        let classifier = NameClassifier(filter, functions)
        let leads = filter.leadingTo.isEmpty ? nil : pathsThatLead(classifier)
        let outermost = Place(role: filter.only.isEmpty ? .transparent : .outside, node: 0, depth: 0)
        let hasTriggers = !filter.triggers.isEmpty
        var places: [Place] = []
        places.reserveCapacity(paths.count)
        var table = CallPathTable()
        for (index, path) in paths.enumerated() {
            let caller = path.parent < 0 ? outermost : places[Int(path.parent)]
            var place = caller
            let match = classifier.match(path.function)
            place.classify(match)
            place.limit.enter(
                place.role, own: match.contains(.limiting) ? classifier.limits(of: path.function).levels : nil,
                depth: place.depth, maxDepth: filter.maxDepth)
            let isTooDeep = place.limit.isTooDeep
            switch place.role {
            case .candidate:
                if let node = place.node, !isTooDeep, leads?[index] ?? true {
                    let own = table.callee(of: node, function: path.function)
                    table.add(path.sums, path.histogram, in: histograms, to: own)
                    place.node = own
                    place.depth += 1
                } else if !hasTriggers || !isTooDeep {
                    place.node = nil
                }
            case .transparent:
                if let node = place.node, node != 0, !isTooDeep || !hasTriggers {
                    table.addHidden(path.sums, to: node)
                }
            case .outside, .without: break
            }
            places.append(place)
        }
        var result = CallPathTree(table, functions: functions, cost: cost)
        if hasTriggers { result.least = result.least(classifier) }
        return result
    }

    /// For every path the time in ns that it has to take to be shown, if its own triggers or those of paths around it say so; and
    /// `.max` for others.
    private func least(_ classifier: NameClassifier) -> [UInt64] {
        var least = [UInt64](repeating: .max, count: paths.count)
        /// What holds below each path.
        var below = least
        for (index, path) in paths.enumerated() {
            let caller = Int(path.parent)
            if caller >= 0 { (least[index], below[index]) = (below[caller], below[caller]) }
            guard classifier.match(path.function).contains(.limiting) else { continue }
            let cost = classifier.limits(of: path.function).minCost
            if cost > 0 { below[index] = classifier.costs[cost] }
            least[index] = 0
        }
        // What leads to such a path is shown as well.
        for index in paths.indices.reversed() where least[index] == 0 && paths[index].parent >= 0 {
            least[Int(paths[index].parent)] = 0
        }
        return least
    }

    /// Whether a path takes so long that it is shown where paths are that take `least` ns, or other times that triggers say.
    @inline(__always)
    public func isLong(_ index: Int, least: UInt64) -> Bool {
        let own = self.least.isEmpty ? .max : self.least[index]
        return paths[index].sums.total >= (own == .max ? least : own)
    }

    /// What became of a path: its role for the filter; the node that it, or what is left of its callers, became, or nil
    /// when nothing below it is kept; and the depth that its callees are shown at.
    private struct Place {
        var role: TreeBuilder.Role
        var node: UInt32?
        var depth: UInt32
        var limit = DepthLimit()

        mutating func classify(_ match: NameClassifier.Match) {
            if role == .transparent { role = .candidate }
            if match.contains(.without) { role = .without }
            if role == .outside, match.contains(.only) { role = .candidate }
            if role == .candidate, match.contains(.hidden) { role = .transparent }
        }
    }

    /// For every path, whether it, or a path below it, ends in a function that paths are to lead to.
    private func pathsThatLead(_ classifier: NameClassifier) -> [Bool] {
        var leads = [Bool](repeating: false, count: paths.count)
        for index in paths.indices.reversed() {
            let match = classifier.match(paths[index].function)
            if match.contains(.without) {
                leads[index] = false
                continue
            }
            if match.contains(.leadingTo) { leads[index] = true }
            if leads[index], paths[index].parent >= 0 { leads[Int(paths[index].parent)] = true }
        }
        return leads
    }

    /// The call paths that lead to the functions that `patterns` match, read backwards: those functions are the roots,
    /// their callers below them. A call within a call of such a function belongs to the outer one's path.
    ///
    /// - Parameter maxDepth: callers to follow; a caller that calls itself counts once.
    /// - Complexity: O(n + m · maxDepth) for m paths that end in such a function.
    public func inverted(at patterns: [Pattern], maxDepth: Int = 32) -> CallPathTree {
        var filter = TreeFilter()
        filter.only = patterns
        let classifier = NameClassifier(filter, functions)
        /// For every path, the path of its nearest caller that is another function, or -1.
        var callers = [Int32](repeating: -1, count: paths.count)
        for (index, path) in paths.enumerated() where path.parent >= 0 {
            let isRecursive = paths[Int(path.parent)].function == path.function
            callers[index] = isRecursive ? callers[Int(path.parent)] : path.parent
        }
        var table = CallPathTable()
        var index = 0
        while index < paths.count {
            guard classifier.match(paths[index].function).contains(.only) else {
                index += 1
                continue
            }
            let end = Int(paths[index].end)
            var inner = CallPathTable()
            for below in index..<end where classifier.match(paths[below].function).contains(.only) {
                var added = paths[below].sums
                if below != index {
                    (added.total, added.inherited, added.taken) = (0, 0, 0)
                    added.offCPU = OffCPUTimes()
                    added.memory = MemorySums()
                }
                // Callees that were left out were called by this function. They do not belong to its callers.
                added.dropped = CallSum()
                inner.add(added, paths[below].histogram, in: histograms, to: 0)
            }
            var path = Int32(index)
            var node: UInt32 = 0
            for _ in 0...maxDepth where path >= 0 {
                node = table.callee(of: node, function: paths[Int(path)].function)
                table.add(inner.sums(0), inner.nodes[0].histogram, in: inner.histograms, to: node)
                path = callers[Int(path)]
            }
            inner.free()
            index = end
        }
        return CallPathTree(table, functions: functions, cost: cost)
    }
}
