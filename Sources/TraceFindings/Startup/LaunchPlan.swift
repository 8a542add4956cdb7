/// The tasks of a start, and which of them have to be done before others.
public struct LaunchPlan: Sendable {
    public struct Task: Sendable, Equatable {
        public var id: String
        public var category: String
        /// Ids of the tasks that have to be over when it begins.
        public var dependencies: [String]
        /// The thread that it is bound to; nil: any. Tasks that are bound to the same one are never done at once.
        public var thread: String?
        /// Of tasks that could be next, the one of the highest number is.
        public var priority: Int
        /// What it is reckoned with where it was not seen to run, in ns.
        public var expected: UInt64?

        public init(
            id: String, category: String = "", dependencies: [String] = [], thread: String? = nil, priority: Int = 0,
            expected: UInt64? = nil
        ) {
            self.id = id
            self.category = category
            self.dependencies = dependencies
            self.thread = thread
            self.priority = priority
            self.expected = expected
        }
    }

    /// What keeps tasks from being a plan.
    public enum Problem: Error, Equatable, CustomStringConvertible {
        case twice(String)
        case unknown(dependency: String, of: String)
        /// The first task once more at the end.
        case circle([String])

        public var description: String {
            switch self {
            case .twice(let id): "there are two tasks '\(id)'"
            case .unknown(let dependency, let task): "task '\(task)' depends on '\(dependency)', which is no task"
            case .circle(let ids): "tasks depend on each other in a circle: \(ids.joined(separator: " → "))"
            }
        }
    }

    public let tasks: [Task]
    /// By task, the indices of those that it depends on, each once and in ascending order.
    public let dependencies: [[Int]]
    /// An order in which no task comes before one that it depends on.
    let order: [Int]

    /// - Complexity: O(tasks + dependencies).
    public init(_ tasks: [Task]) throws(Problem) {
        var numbers: [String: Int] = [:]
        for (index, task) in tasks.enumerated() {
            guard numbers.updateValue(index, forKey: task.id) == nil else { throw .twice(task.id) }
        }
        var dependencies: [[Int]] = []
        for task in tasks {
            var found: Set<Int> = []
            for name in task.dependencies {
                guard let number = numbers[name] else { throw .unknown(dependency: name, of: task.id) }
                found.insert(number)
            }
            dependencies.append(found.sorted())
        }
        self.tasks = tasks
        self.dependencies = dependencies
        switch LaunchPlan.sorted(dependencies) {
        case .order(let order): self.order = order
        case .circle(let circle): throw .circle((circle + [circle[0]]).map { tasks[$0].id })
        }
    }

    private enum Sorting {
        case order([Int])
        case circle([Int])
    }

    /// Visits what each depends on first (Tarjan 1976), without recursion.
    private static func sorted(_ dependencies: [[Int]]) -> Sorting {
        var order: [Int] = []
        var state = [UInt8](repeating: 0, count: dependencies.count)  // 1: being visited, 2: done
        for start in dependencies.indices where state[start] == 0 {
            var stack = [(task: start, next: 0)]
            state[start] = 1
            while let (task, next) = stack.last {
                guard next < dependencies[task].count else {
                    state[task] = 2
                    order.append(task)
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                let dependency = dependencies[task][next]
                if state[dependency] == 1 {
                    let first = stack.firstIndex { $0.task == dependency }!
                    return .circle(stack[first...].map(\.task))
                }
                if state[dependency] == 0 {
                    state[dependency] = 1
                    stack.append((dependency, 0))
                }
            }
        }
        return .order(order)
    }

    /// The tasks that have to be over before one begins, directly or not.
    public func allDependencies(of task: Int) -> Set<Int> {
        var found: Set<Int> = []
        var open = dependencies[task]
        while let next = open.popLast() {
            if found.insert(next).inserted { open += dependencies[next] }
        }
        return found
    }

    /// The tasks that can begin only after one is over, directly or not.
    public func allDependents(of task: Int) -> Set<Int> {
        Set(tasks.indices.filter { allDependencies(of: $0).contains(task) })
    }

    /// The dependent tasks that take longest one after another, and how long.
    ///
    /// - Parameter costs: how long each task takes.
    /// - Complexity: O(tasks + dependencies).
    public func criticalPath(_ costs: [UInt64]) -> (tasks: [Int], time: UInt64) {
        var ends = [UInt64](repeating: 0, count: tasks.count)
        var before = [Int?](repeating: nil, count: tasks.count)
        for task in order {
            before[task] = dependencies[task].max { (ends[$0], $1) < (ends[$1], $0) }
            ends[task] = costs[task] + (before[task].map { ends[$0] } ?? 0)
        }
        guard var last = tasks.indices.max(by: { (ends[$0], $1) < (ends[$1], $0) }) else { return ([], 0) }
        let time = ends[last]
        var path = [last]
        while let previous = before[last] {
            path.append(previous)
            last = previous
        }
        return (path.reversed(), time)
    }
}
