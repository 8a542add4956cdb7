internal import TraceAnalysis

/// The functions of a tree by name and file, because compilers cannot tell apart functions of one name in one language.
struct NamedFunctions {
    struct Named {
        let function: ResolvedFunction
        var sums = HookTuning.Sums()
        var longestAverage: UInt64 = 0
        var isRoot = false

        func isShort(_ limits: HookTuning.Limits) -> Bool { !isRoot && longestAverage < limits.shorterThan }

        /// Whether `pattern` leaves out the function. That is never so when the Swift compiler made it, because that
        /// takes no patterns.
        func isHit(_ pattern: String, _ language: HookTuning.Language) -> Bool {
            !function.isSwift && language.leavesOut(pattern, function.name)
        }
    }

    private(set) var list: [Named] = []

    func hits(ofGroup pattern: String, _ language: HookTuning.Language) -> [Int] {
        list.indices.filter { !list[$0].function.isSwift && language.groups.leavesOut(pattern, list[$0].function) }
    }

    func sums(of numbers: [Int]) -> HookTuning.Sums {
        var sums = HookTuning.Sums()
        for number in numbers { sums.add(list[number].sums) }
        return sums
    }

    init(_ tree: CallPathTree) {
        struct Key: Hashable {
            var name: String
            var file: String?
            var isSwift: Bool
        }
        var numbers: [Key: Int] = [:]
        func number(of id: UInt32) -> Int {
            let function = tree.functions[id]
            let key = Key(name: function.name, file: function.file, isSwift: function.isSwift)
            if let known = numbers[key] { return known }
            numbers[key] = list.count
            list.append(Named(function: function))
            return list.count - 1
        }
        for row in tree.rows(by: .function) {
            guard case .function(let id) = row.subject, !tree.functions.isTime(id) else { continue }
            let number = number(of: id)
            list[number].sums.add(HookTuning.Sums(calls: row.calls, total: row.total, selfTime: row.selfTime))
            list[number].longestAverage = max(list[number].longestAverage, row.average)
        }
        for root in tree.roots where !tree.functions.isTime(tree.paths[root].function) {
            list[number(of: tree.paths[root].function)].isRoot = true
        }
    }
}
