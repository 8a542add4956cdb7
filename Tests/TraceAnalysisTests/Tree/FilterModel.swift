import TestSupport

@testable import TraceAnalysis

/// What a filter shows of a trace, found out in a plain way: with all calls in memory, looking up and down the tree for each.
final class FilterModel {
    struct Function {
        var name: String
        var module: String
        var file: String?
        var size: UInt64?

        var resolved: ResolvedFunction {
            var function = ResolvedFunction(name: name, module: module, file: file, line: 1)
            function.size = size
            return function
        }
    }

    final class Node {
        let function: Function
        let start: UInt64
        let end: UInt64
        var callees: [Node] = []
        unowned let caller: Node?
        var total: UInt64 { end - start }

        init(_ function: Function, _ start: UInt64, _ end: UInt64, _ caller: Node?) {
            (self.function, self.start, self.end, self.caller) = (function, start, end, caller)
        }

        var andCallers: [Node] { [self] + (caller?.andCallers ?? []) }
    }

    let filter: TreeFilter
    private(set) var roots: [Node] = []

    init(_ calls: [RandomTrace.Call], _ filter: TreeFilter, _ function: (UInt64) -> Function) {
        self.filter = filter
        var open: [Node] = []
        for call in calls {
            open.removeLast(open.count - call.depth)
            let node = Node(function(call.function), call.start, call.end, open.last)
            if let caller = open.last { caller.callees.append(node) } else { roots.append(node) }
            open.append(node)
        }
    }

    // MARK: What single calls are

    private func any(_ patterns: [Pattern], _ node: Node) -> Bool {
        patterns.contains { $0.matches(node.function.resolved) }
    }

    private func isLeftOut(_ node: Node) -> Bool { node.andCallers.contains { any(filter.without, $0) } }
    private func isInside(_ node: Node) -> Bool {
        filter.only.isEmpty || node.andCallers.contains { any(filter.only, $0) }
    }
    private func isHidden(_ node: Node) -> Bool {
        any(filter.hidden, node) || (node.function.size.map { $0 < filter.minSize } ?? false)
            || filter.places.contains { $0.hides && $0.matches(node.function.file) }
            || filter.places.contains { !$0.hides }
                && !filter.places.contains { !$0.hides && $0.matches(node.function.file) }
    }
    private func isCounted(_ node: Node) -> Bool { isInside(node) && !isLeftOut(node) && !isHidden(node) }

    private func triggers(_ node: Node) -> [CallTrigger] {
        isInside(node) && !isLeftOut(node) ? filter.triggers.filter { $0.function.matches(node.function.resolved) } : []
    }

    private func isTooDeep(_ node: Node) -> Bool {
        var levels: UInt32 = 0
        for call in node.andCallers {
            if let most = triggers(call).compactMap(\.levels).last { return levels > most }
            if isCounted(call) { levels += 1 }
        }
        return levels > 0 && levels - 1 > filter.maxDepth
    }

    private func leads(_ node: Node) -> Bool {
        filter.leadingTo.isEmpty
            || !isLeftOut(node) && (any(filter.leadingTo, node) || node.callees.contains(where: leads))
    }

    private func keeps(_ node: Node) -> Bool {
        isCounted(node) && !isTooDeep(node) && !triggers(node).isEmpty && leads(node) && overlaps(node)
            || node.callees.contains(where: keeps)
    }

    private func overlaps(_ node: Node) -> Bool { node.start <= filter.to && node.end >= filter.from }

    private func isLong(_ node: Node) -> Bool {
        let costs = node.andCallers.dropFirst().lazy.compactMap { self.triggers($0).compactMap(\.minCost).last }
        return node.total >= (costs.first ?? filter.minCost)
    }

    func isShown(_ node: Node) -> Bool {
        isCounted(node) && overlaps(node) && leads(node) && !isTooDeep(node) && (isLong(node) || keeps(node))
    }

    // MARK: What is shown

    /// The calls shown next below some.
    func shown(below nodes: [Node]) -> [Node] {
        nodes.flatMap { isShown($0) ? [$0] : shown(below: $0.callees) }
    }

    func selfTime(_ node: Node) -> UInt64 { node.total - taken(node.callees) }

    private func taken(_ nodes: [Node]) -> UInt64 {
        nodes.reduce(0) { $0 + (isCounted($1) || isLeftOut($1) ? $1.total : taken($1.callees)) }
    }

    /// The calls below some that are hidden for their depth or cost, and their time.
    private func hidden(_ nodes: [Node]) -> CallSum {
        var sum = CallSum()
        for node in nodes where !isShown(node) && !isLeftOut(node) {
            if !isCounted(node) {
                sum.add(hidden(node.callees))
            } else if leads(node), overlaps(node) {
                let time = node.total - shown(below: node.callees).reduce(0) { $0 + $1.total }
                sum.add(CallSum(calls: 1 + hidden(node.callees).calls, time: time))
            }
        }
        return sum
    }

    /// The lines of ``TextVisitor``.
    var lines: [String] {
        func lines(_ nodes: [Node], _ depth: Int) -> [String] {
            shown(below: nodes).flatMap { node -> [String] in
                let hidden = hidden(node.callees)
                return ["\(depth) \(node.function.name) \(node.total)/\(selfTime(node))"]
                    + lines(node.callees, depth + 1)
                    + (hidden.calls > 0 ? ["  \(hidden.calls) calls \(hidden.time)"] : [])
            }
        }
        let sum = hidden(roots)
        return lines(roots, 0) + (sum.calls > 0 ? ["  \(sum.calls) roots \(sum.time)"] : [])
    }

    /// A line for each call path, sorted: its functions, calls, total/self.
    var paths: [String] {
        var sums: [String: (calls: Int, total: UInt64, own: UInt64)] = [:]
        func add(_ nodes: [Node], _ path: String) {
            for node in shown(below: nodes) {
                let path = "\(path) \(node.function.name)"
                let sum = sums[path] ?? (0, 0, 0)
                sums[path] = (sum.calls + 1, sum.total + node.total, sum.own + selfTime(node))
                add(node.callees, path)
            }
        }
        add(roots, "")
        return sums.map { "\($0) x\($1.calls) \($1.total)/\($1.own)" }.sorted()
    }
}
