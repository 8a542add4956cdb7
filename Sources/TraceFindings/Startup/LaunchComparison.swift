internal import TraceFile

/// A plan beside what happened: named scopes of the program are its tasks.
public struct LaunchComparison: Sendable {
    /// How a task ran.
    public struct Run: Sendable {
        /// ns since the session's start; of more than one call, the first one's beginning and the last one's end.
        public var begin: UInt64
        public var end: UInt64
        /// Threads' names.
        public var thread: String
        public var threadIndex: Int
        /// What it took, without waiting for other tasks.
        public var cost: UInt64
    }

    public enum Difference: Sendable, Equatable {
        /// A task began before one was over that it depends on.
        case order(task: Int, dependency: Int, early: UInt64)
        /// A task waited for another one on which it does not depend.
        case wait(task: Int, other: Int, time: UInt64)
        /// A task ran on another thread than the plan says.
        case thread(task: Int)
        /// A task did not run before the end point.
        case missing(task: Int)
    }

    /// What would be gained by a change, beside the start as it was.
    public struct Change: Sendable {
        public enum Kind: Sendable {
            /// Not before the end point.
            case delay
            /// On another thread, beside these tasks.
            case beside([Int])
        }
        public var kind: Kind
        public var task: Int
        public var gain: UInt64
    }

    public let plan: LaunchPlan
    /// By task; nil for one that did not run.
    public let runs: [Run?]
    /// By task.
    public let costs: [UInt64]
    public private(set) var differences: [Difference] = []
    /// From the beginning of the first task to the end of the last one; 0 when none ran.
    public let actual: UInt64
    public let critical: (tasks: [Int], time: UInt64)
    public let ideal: LaunchSchedule
    public let width: Int
    /// The most gain first.
    public private(set) var changes: [Change] = []

    /// Changes that gain less are not told, in ns.
    private static let leastGain: UInt64 = 1000

    /// - Parameters:
    ///   - waits: nil where they were not recorded.
    ///   - name: what a scope is called.
    public init(
        _ plan: LaunchPlan, _ calls: StartupCalls, _ waits: Waits?, width: Int, name: (UInt32) -> String
    ) {
        let numbers = Dictionary(uniqueKeysWithValues: plan.tasks.enumerated().map { ($1.id, $0) })
        var runs = [Run?](repeating: nil, count: plan.tasks.count)
        let scopes = calls.scopes.compactMap { scope in numbers[name(scope.function)].map { ($0, scope) } }
        for (task, scope) in scopes {
            let thread = scope.thread == calls.main ? "main" : LaunchComparison.name(calls.threads[scope.thread])
            var run =
                runs[task]
                ?? Run(begin: scope.begin, end: scope.end, thread: thread, threadIndex: scope.thread, cost: 0)
            run.begin = min(run.begin, scope.begin)
            run.end = max(run.end, scope.end)
            run.cost += scope.end - scope.begin
            runs[task] = run
        }
        let between = LaunchComparison.waits(scopes, waits, calls)
        for ((task, _), time) in between {
            let cost = runs[task]?.cost ?? 0
            runs[task]?.cost = cost - min(time, cost)
        }
        self.plan = plan
        self.runs = runs
        self.width = width
        let costs = zip(plan.tasks, runs).map { task, run in run?.cost ?? task.expected ?? 0 }
        self.costs = costs
        let seen = runs.compactMap(\.self)
        actual = (seen.map(\.end).max() ?? 0) - (seen.map(\.begin).min() ?? 0)
        critical = plan.criticalPath(costs)
        ideal = LaunchSchedule(plan, costs: costs, width: width)
        differences = differences(between)
        changes = findChanges()
    }

    private struct Pair: Hashable {
        var task: Int
        var other: Int
    }

    /// How long each task waited for each other one.
    private static func waits(
        _ scopes: [(task: Int, scope: StartupCalls.Scope)], _ waits: Waits?, _ calls: StartupCalls
    ) -> [((task: Int, other: Int), time: UInt64)] {
        guard let waits else { return [] }
        var times: [Pair: UInt64] = [:]
        /// The innermost task that a thread is in at a moment.
        func task(_ thread: Int, _ moment: UInt64) -> Int? {
            let tid = waits.threads[thread].tid
            return scopes.last {
                calls.threads[$0.scope.thread].tid == tid && $0.scope.begin <= moment && moment <= $0.scope.end
            }?.task
        }
        for wait in waits.waits {
            guard let wake = wait.wake.map({ waits.wakes[$0] }), let waiting = task(wait.thread, wait.begin),
                let other = task(wake.thread, wake.moment), other != waiting
            else { continue }
            times[Pair(task: waiting, other: other), default: 0] += wait.time
        }
        return times.map { (($0.key.task, $0.key.other), $0.value) }.sorted { $0.0 < $1.0 }
    }

    private static func name(_ thread: TracedThread) -> String {
        thread.name.isEmpty ? "thread \(thread.tid)" : thread.name
    }

    private func differences(_ waits: [((task: Int, other: Int), time: UInt64)]) -> [Difference] {
        var found: [Difference] = []
        for task in plan.tasks.indices {
            guard let run = runs[task] else {
                found.append(.missing(task: task))
                continue
            }
            for dependency in plan.dependencies[task] {
                guard let other = runs[dependency], other.end > run.begin else { continue }
                // A task that waits for its dependency itself keeps the order.
                if waits.contains(where: { $0.0 == (task, dependency) }) { continue }
                found.append(.order(task: task, dependency: dependency, early: other.end - run.begin))
            }
            if let wanted = plan.tasks[task].thread, wanted != run.thread { found.append(.thread(task: task)) }
        }
        for ((task, other), time) in waits where !plan.allDependencies(of: task).contains(other) {
            found.append(.wait(task: task, other: other, time: time))
        }
        return found
    }

    /// What is gained beside the start as it was, in which each task keeps to its thread.
    private func findChanges() -> [Change] {
        let threads = runs.map { $0?.threadIndex }
        func end(_ costs: [UInt64], _ groups: [Int?]) -> LaunchSchedule {
            LaunchSchedule(plan, costs: costs, width: width, groups: groups)
        }
        let now = end(costs, threads).end
        var changes: [Change] = []
        for task in plan.tasks.indices where costs[task] > 0 {
            if plan.allDependents(of: task).isEmpty {
                var without = costs
                without[task] = 0
                let later = end(without, threads).end
                if now > later + LaunchComparison.leastGain {
                    changes.append(Change(kind: .delay, task: task, gain: now - later))
                }
            }
            guard plan.tasks[task].thread == nil, threads[task] != nil else { continue }
            var moved = threads
            moved[task] = nil
            let schedule = end(costs, moved)
            guard now > schedule.end + LaunchComparison.leastGain else { continue }
            let beside = plan.tasks.indices.filter { other in
                other != task && costs[other] > 0 && schedule.begins[other] < schedule.ends[task]
                    && schedule.begins[task] < schedule.ends[other]
            }
            changes.append(Change(kind: .beside(beside), task: task, gain: now - schedule.end))
        }
        return changes.sorted { $0.gain > $1.gain }
    }
}

extension LaunchPlan {
    /// A plan by what happened: each task depends on the one before it on its thread, and on those that it waited for. What a thread waits
    /// for between two tasks, as for the end of another thread, the later one has waited for, and what it waits for is the last task that
    /// the other thread was through with. Scopes within others are no tasks of their own.
    public init(
        proposedBy calls: StartupCalls, _ waits: Waits?, name: (UInt32) -> String
    ) throws(Problem) {
        var tasks: [Task] = []
        var known: [String: Int] = [:]
        var last: [Int: (task: Int, end: UInt64)] = [:]
        var spans: [(task: Int, scope: StartupCalls.Scope)] = []
        for scope in calls.scopes {
            if let before = last[scope.thread], scope.begin < before.end { continue }
            let id = name(scope.function)
            let isMain = scope.thread == calls.main
            guard known[id] == nil else {
                spans.append((known[id]!, scope))
                last[scope.thread]?.end = scope.end
                continue
            }
            let index = tasks.count
            known[id] = index
            let before = last[scope.thread].map { [tasks[$0.task].id] } ?? []
            tasks.append(
                Task(
                    id: id, category: isMain ? "main" : "background", dependencies: before,
                    thread: isMain ? "main" : nil))
            last[scope.thread] = (index, scope.end)
            spans.append((index, scope))
        }
        for wait in waits?.waits ?? [] {
            guard let waits, let wake = wait.wake.map({ waits.wakes[$0] }) else { continue }
            func runs(on thread: Int) -> [(task: Int, scope: StartupCalls.Scope)] {
                spans.filter { calls.threads[$0.scope.thread].tid == waits.threads[thread].tid }
            }
            let own = runs(on: wait.thread), others = runs(on: wake.thread)
            guard
                let waiting = own.first(where: { $0.scope.begin <= wait.begin && wait.begin <= $0.scope.end })?.task
                    ?? own.first(where: { $0.scope.begin >= wait.begin })?.task,
                let other = others.last(where: { $0.scope.begin <= wake.moment })?.task, other != waiting,
                !tasks[waiting].dependencies.contains(tasks[other].id)
            else { continue }
            // Two tasks that wait for each other would be a circle: the first wait counts.
            var changed = tasks
            changed[waiting].dependencies.append(tasks[other].id)
            if (try? LaunchPlan(changed)) != nil { tasks = changed }
        }
        for index in tasks.indices { tasks[index].priority = tasks.count - index }
        try self.init(tasks)
    }
}
