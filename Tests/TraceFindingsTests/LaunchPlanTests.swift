internal import Glibc
import Testing

@testable import TraceAnalysis
@testable import TraceFindings

@Suite struct LaunchPlanTests {
    private func plan(_ tasks: [(id: String, after: [String])]) throws -> LaunchPlan {
        try LaunchPlan(tasks.map { LaunchPlan.Task(id: $0.id, dependencies: $0.after) })
    }

    /// A and B beside each other, then C, which needs both.
    @Test func twoBesideEachOther() throws {
        let plan = try plan([("A", []), ("B", []), ("C", ["A", "B"])])
        let costs: [UInt64] = [100, 150, 50]
        let path = plan.criticalPath(costs)
        #expect(path.tasks == [1, 2] && path.time == 200)
        let wide = LaunchSchedule(plan, costs: costs, width: 2)
        #expect(wide.end == 200 && wide.isBest && wide.begins[2] == 150)
        #expect(LaunchSchedule(plan, costs: costs, width: 1).end == 300)
    }

    @Test func circlesAndUnknownNames() {
        func problem(_ tasks: [(id: String, after: [String])]) -> String? {
            do throws(LaunchPlan.Problem) {
                _ = try LaunchPlan(tasks.map { LaunchPlan.Task(id: $0.id, dependencies: $0.after) })
                return nil
            } catch {
                return error.description
            }
        }
        #expect(problem([("a", ["c"]), ("b", ["a"]), ("c", ["b"])])?.contains("a → c → b → a") == true)
        #expect(problem([("a", ["a"])])?.contains("a → a") == true)
        #expect(problem([("a", ["x"])])?.contains("'a' depends on 'x'") == true)
        #expect(problem([("a", []), ("a", [])])?.contains("two tasks 'a'") == true)
        #expect(problem([]) == nil)
    }

    /// Tasks of one thread are never done at once, however many threads there are.
    @Test func boundTasks() throws {
        let plan = try LaunchPlan(
            ["a", "b", "c"].map { LaunchPlan.Task(id: $0, thread: $0 == "c" ? nil : "main") })
        let schedule = LaunchSchedule(plan, costs: [30, 40, 50], width: 8)
        #expect(schedule.end == 70 && schedule.isBest)
    }

    /// Any set of tasks that can begin is begun, or not, whenever one is over: no schedule ends earlier than the best of these.
    private struct Trials {
        let plan: LaunchPlan
        let costs: [UInt64]
        let width: Int
        let groups: [Int?]
        var best = UInt64.max

        mutating func run() { step(at: 0, running: [], done: []) }

        private mutating func step(at now: UInt64, running: [(task: Int, end: UInt64)], done: Set<Int>) {
            if now >= best { return }
            if done.count == costs.count {
                best = now
                return
            }
            let busy = Set(running.map(\.task))
            let ready = costs.indices.filter { task in
                !done.contains(task) && !busy.contains(task) && plan.dependencies[task].allSatisfy { done.contains($0) }
            }
            for chosen in 0..<(1 << ready.count) {
                let begun = ready.indices.filter { chosen & 1 << $0 != 0 }.map { ready[$0] }
                let all = running + begun.map { ($0, now + costs[$0]) }
                let used = all.compactMap { groups[$0.task] }
                guard all.count <= width, Set(used).count == used.count, let next = all.map(\.end).min() else {
                    continue
                }
                step(
                    at: next, running: all.filter { $0.end > next },
                    done: done.union(all.filter { $0.end <= next }.map(\.task)))
            }
        }
    }

    /// Random plans against all schedules that there are. FATHOM_SEEDS says how many.
    @Test func noScheduleEndsEarlier() throws {
        let seeds = getenv("FATHOM_SEEDS").flatMap { Int(String(cString: $0)) } ?? 60
        for seed in 1...seeds {
            var random = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
            func next(_ limit: Int) -> Int {
                random ^= random << 13
                random ^= random >> 7
                random ^= random << 17
                return Int(random % UInt64(limit))
            }
            let count = 2 + next(5)
            let tasks = (0..<count).map { index in
                LaunchPlan.Task(
                    id: "\(index)", dependencies: (0..<index).filter { _ in next(3) == 0 }.map { "\($0)" },
                    thread: next(3) == 0 ? ["main", "io"][next(2)] : nil, priority: next(3))
            }
            let plan = try LaunchPlan(tasks)
            let costs = tasks.map { _ in UInt64(1 + next(5)) }
            let width = 1 + next(3)
            let schedule = LaunchSchedule(plan, costs: costs, width: width)
            var trials = Trials(plan: plan, costs: costs, width: width, groups: LaunchSchedule.groups(of: plan))
            trials.run()
            #expect(schedule.end == trials.best && schedule.isBest, "seed \(seed)")
            check(schedule, plan, costs, width, "seed \(seed)")
            #expect(plan.criticalPath(costs).time <= schedule.end)
        }
    }

    /// What a schedule has to keep to.
    private func check(_ schedule: LaunchSchedule, _ plan: LaunchPlan, _ costs: [UInt64], _ width: Int, _ name: Comment)
    {
        let groups = LaunchSchedule.groups(of: plan)
        for task in costs.indices {
            for dependency in plan.dependencies[task] {
                #expect(schedule.begins[task] >= schedule.ends[dependency], name)
            }
            let beside = costs.indices.filter {
                schedule.begins[$0] <= schedule.begins[task] && schedule.begins[task] < schedule.ends[$0]
            }
            #expect(beside.count <= width, name)
            let used = beside.compactMap { groups[$0] }
            #expect(Set(used).count == used.count, name)
        }
    }

    /// Of many tasks, the first schedule is found at once, and it is said when a better one may be there.
    @Test func manyTasks() throws {
        let tasks = (0..<60).map {
            LaunchPlan.Task(id: "\($0)", dependencies: $0 % 7 == 0 || $0 < 8 ? [] : ["\($0 - 8)"])
        }
        let plan = try LaunchPlan(tasks)
        let costs = (0..<60).map { UInt64(3 + $0 * 7 % 11) }
        let schedule = LaunchSchedule(plan, costs: costs, width: 3)
        check(schedule, plan, costs, 3, "sixty tasks")
        #expect(schedule.end < costs.reduce(0, +) / 2)
    }
}
