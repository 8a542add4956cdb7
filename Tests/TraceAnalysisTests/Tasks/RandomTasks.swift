import TestSupport

/// Tasks that call, return and suspend at random on a few threads: their records, and the trees that they stand for.
struct RandomTasks {
    private struct Line {
        var depth: Int
        var name: String
        var start: UInt64
        var end: UInt64 = 0
        var callees: UInt64 = 0
    }

    private struct Task {
        var id: UInt32
        /// Open calls, outermost first, as indices of lines.
        var stack: [Int] = []
        var lines: [Line] = []
        /// When its last piece ended.
        var suspendedAt: UInt64?

        /// The address that stands for the open call at `level`: calls one after the other have the same.
        func context(_ level: Int) -> UInt64 { UInt64(id) * 1000 + UInt64(level) }

        /// Contexts of the calls at `level` and further out.
        func chain(_ level: Int) -> [UInt64] { (0...level).reversed().map(context) }

        mutating func open(_ name: String, at time: UInt64) {
            lines.append(Line(depth: stack.count, name: name, start: time))
            stack.append(lines.count - 1)
        }

        mutating func close(at time: UInt64) {
            let line = stack.removeLast()
            lines[line].end = time
            if let caller = stack.last { lines[caller].callees += time - lines[line].start }
        }
    }

    private(set) var threads = Array(repeating: TaskJoinTests.Records(), count: 3)
    private var tasks: [Task]
    private var random: SeededGenerator
    private var time: UInt64 = 0

    /// What ``TaskJoinTests/trees(_:end:budget:)`` is to give.
    var trees: [String] {
        tasks.sorted { $0.lines[0].start < $1.lines[0].start }.flatMap { task in
            ["task \(task.id)"]
                + task.lines.map { line in
                    let total = line.end - line.start
                    return "\(line.depth) \(line.name) \(line.start)+\(total)/\(total - line.callees)"
                }
        }
    }

    init(seed: UInt64, tasks count: Int) {
        random = SeededGenerator(seed: seed)
        tasks = (1...count).map { Task(id: UInt32($0)) }
        var waiting = Array(tasks.indices)
        while !waiting.isEmpty {
            let place = Int.random(in: waiting.indices, using: &random)
            // Longer than any executor takes between two pieces of one task that was not suspended.
            time += UInt64.random(in: 2000...5000, using: &random)
            var task = tasks[waiting[place]]
            run(&task, on: Int.random(in: threads.indices, using: &random))
            tasks[waiting[place]] = task
            if task.stack.isEmpty { waiting.remove(at: place) }
        }
    }

    private mutating func run(_ task: inout Task, on thread: Int) {
        var part = TaskJoinTests.Part.start
        if let start = task.suspendedAt {
            part = .resumption
            task.lines.append(Line(depth: task.stack.count, name: "(suspended)", start: start, end: time))
            task.lines[task.stack.last!].callees += time - start
        }
        var contexts = task.chain(max(task.stack.count - 1, 0))
        if part == .start { task.open(function(), at: time) }
        while true {
            let function = Character(task.lines[task.stack.last!].name)
            threads[thread].begin(
                function, part, at: time, task: task.id, isResumed: part == .resumption, contexts)
            work(&task, on: thread)
            threads[thread].exit(at: time)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4 where task.stack.count < 8:
                time += 5
                contexts = task.chain(task.stack.count)
                task.open(self.function(), at: time)
                part = .start
            case 4..<6:
                task.suspendedAt = time
                return
            default:
                task.close(at: time)
                guard !task.stack.isEmpty else { return }
                time += 5
                contexts = task.chain(task.stack.count)
                part = .continuation
            }
        }
    }

    /// Time passes, now and then in a call that cannot suspend.
    private mutating func work(_ task: inout Task, on thread: Int) {
        time += UInt64.random(in: 1...50, using: &random)
        guard Bool.random(using: &random) else { return }
        threads[thread].enter("w", at: time)
        task.open("w", at: time)
        time += UInt64.random(in: 1...50, using: &random)
        threads[thread].exit(at: time)
        task.close(at: time)
        time += 1
    }

    private mutating func function() -> String { String("FGH".randomElement(using: &random)!) }
}
