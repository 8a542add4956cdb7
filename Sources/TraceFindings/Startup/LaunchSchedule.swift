/// When each task of a plan would be done, if nothing else kept it from it than the plan and the number of threads.
public struct LaunchSchedule: Sendable {
    /// By task.
    public let begins: [UInt64]
    public let ends: [UInt64]
    /// When all are over.
    public let end: UInt64
    /// Whether there is none that is over earlier. Of many tasks this is not always found out.
    public let isBest: Bool

    /// How many tasks may be placed to look for a better schedule.
    private static let mostSteps = 200_000

    /// - Parameters:
    ///   - costs: how long each task takes.
    ///   - width: how many tasks can be done at once.
    ///   - groups: by task, tasks of the same number are never done at once; nil: what the plan says of threads.
    public init(_ plan: LaunchPlan, costs: [UInt64], width: Int, groups: [Int?]? = nil) {
        var search = Search(plan, costs, max(width, 1), groups ?? LaunchSchedule.groups(of: plan))
        search.run(limit: LaunchSchedule.mostSteps)
        begins = search.best
        let ends = zip(begins, costs).map { $0 + $1 }
        self.ends = ends
        end = ends.max() ?? 0
        isBest = search.isComplete || end == search.least
    }

    /// Tasks that are bound to the same thread are in one group.
    public static func groups(of plan: LaunchPlan) -> [Int?] {
        var numbers: [String: Int] = [:]
        return plan.tasks.map { task in
            guard let thread = task.thread else { return nil }
            let number = numbers[thread] ?? numbers.count
            numbers[thread] = number
            return number
        }
    }

    /// Branch and bound: tasks are placed one after the other, each as early as it can be (the serial schedule generation scheme of
    /// resource-constrained project scheduling, Kolisch 1996). Some order of placing gives a schedule that is over first.
    private struct Search {
        private let plan: LaunchPlan
        private let costs: [UInt64]
        private let width: Int
        private let groups: [Int?]
        /// By task, how long it and what depends on it take, one after another.
        private let tails: [UInt64]
        private var begins: [UInt64]
        private var isPlaced: [Bool]
        private var steps = 0
        private var limit = 0
        private(set) var best: [UInt64]
        private(set) var isComplete = true
        private var bestEnd = UInt64.max
        /// No schedule is over earlier.
        let least: UInt64

        init(_ plan: LaunchPlan, _ costs: [UInt64], _ width: Int, _ groups: [Int?]) {
            self.plan = plan
            self.costs = costs
            self.width = width
            self.groups = groups
            var tails = costs
            for task in plan.order.reversed() {
                for dependency in plan.dependencies[task] {
                    tails[dependency] = max(tails[dependency], costs[dependency] + tails[task])
                }
            }
            self.tails = tails
            let work = costs.reduce(0, +)
            var loads: [Int: UInt64] = [:]
            for (task, group) in groups.enumerated() { if let group { loads[group, default: 0] += costs[task] } }
            least = max(tails.max() ?? 0, (work + UInt64(width) - 1) / UInt64(width), loads.values.max() ?? 0)
            begins = Array(repeating: 0, count: costs.count)
            best = begins
            isPlaced = Array(repeating: false, count: costs.count)
        }

        mutating func run(limit: Int) {
            self.limit = limit
            place(0)
        }

        private mutating func place(_ count: Int) {
            guard count < costs.count else {
                let end = zip(begins, costs).map { $0 + $1 }.max() ?? 0
                if end < bestEnd { (best, bestEnd) = (begins, end) }
                return
            }
            // The first schedule takes the longest tail first, then the highest priority.
            let ready = costs.indices.filter { task in
                !isPlaced[task] && plan.dependencies[task].allSatisfy { isPlaced[$0] }
            }.sorted { left, right in
                (tails[right], plan.tasks[right].priority, left) < (tails[left], plan.tasks[left].priority, right)
            }
            for task in ready {
                steps += 1
                if bestEnd == least { return }
                if steps > limit, bestEnd != .max {
                    isComplete = false
                    return
                }
                let begin = earliest(task)
                guard bestEnd == .max || begin + tails[task] < bestEnd else { continue }
                begins[task] = begin
                isPlaced[task] = true
                place(count + 1)
                isPlaced[task] = false
            }
        }

        /// When a task can begin: what it depends on is over, and for all of its time there is a thread.
        private func earliest(_ task: Int) -> UInt64 {
            let ready = plan.dependencies[task].map { begins[$0] + costs[$0] }.max() ?? 0
            let placed = costs.indices.filter { isPlaced[$0] && costs[$0] > 0 }
            var candidates = [ready] + placed.map { begins[$0] + costs[$0] }.filter { $0 > ready }
            candidates.sort()
            for begin in candidates where fits(task, at: begin, beside: placed) { return begin }
            return candidates[candidates.count - 1]
        }

        private func fits(_ task: Int, at begin: UInt64, beside placed: [Int]) -> Bool {
            guard costs[task] > 0 else { return true }
            let end = begin + costs[task]
            let beside = placed.filter { begins[$0] < end && begin < begins[$0] + costs[$0] }
            if let group = groups[task], beside.contains(where: { groups[$0] == group }) { return false }
            // At most as many are at once as at the beginning of one of them.
            return ([begin] + beside.map { max(begins[$0], begin) }).allSatisfy { moment in
                beside.count { begins[$0] <= moment && moment < begins[$0] + costs[$0] } < width
            }
        }
    }
}
