import CTraceFormat
import TestSupport

/// A random graph of tasks over the threads of two processes. The tasks wait for each other in all ways that are joined by an
/// object, and threads are made and joined meanwhile. It writes the records that such a program would leave, and knows itself
/// what each part of a thread's time had to come after.
struct TaskGraph {
    /// A part of a thread's time, and the part that it had to wait for, on whichever thread.
    struct Part: Equatable {
        var thread: Int
        var begin: UInt64
        var end: UInt64
        var before: Int?
        var isRun: Bool
    }

    struct Thread {
        var process: Int
        var records = RecordWriter(time: 0)
        var time: UInt64 = 0
        /// Its first call began.
        var first: UInt64 = 0
        /// The last part of its time.
        var last: Int?
        /// As pthread_self tells it.
        var number: UInt64
        var isOver = false
    }

    private enum Way: CaseIterable { case semaphore, mutex, condition, futex, pipe, poll, barrier, creation, join }

    static let mainFunction: UInt64 = 0x1000, waitFunction: UInt64 = 0x2000, createFunction: UInt64 = 0x3000

    private var random: SeededGenerator
    private(set) var threads: [Thread] = []
    private(set) var parts: [Part] = []
    private var nextObject: UInt64 = 0x9000
    /// Numbers of threads that are over, which new ones get.
    private var freeNumbers: [[UInt64]] = [[], []]

    init(seed: UInt64, steps: Int = 80) {
        random = SeededGenerator(seed: seed)
        for process in 0..<2 {
            threads.append(Thread(process: process, number: 0x100))
            threads[process].records.wake(FATHOM_WAIT_BEGINNING, for: 0x100, at: 0)
            threads[process].records.enter(Self.mainFunction, at: 0)
            run(process)
        }
        for _ in 0..<steps { step() }
        for thread in threads.indices where thread != 0 && !threads[thread].isOver {
            let object = newObject()
            if threads[thread].process == 0 {
                wait(0, for: thread, Int.random(in: 0..<2, using: &random) == 0 ? .semaphore : .condition, object)
            } else {
                wait(0, for: thread, .pipe, object)
            }
            run(0)
        }
        for thread in threads.indices where !threads[thread].isOver {
            threads[thread].records.exit(at: threads[thread].time)
        }
    }

    private mutating func newObject() -> UInt64 {
        nextObject += 16
        return nextObject
    }

    private func alive(in process: Int? = nil) -> [Int] {
        threads.indices.filter { !threads[$0].isOver && (process == nil || threads[$0].process == process) }
    }

    private mutating func add(_ part: Part) {
        parts.append(part)
        threads[part.thread].time = part.end
        threads[part.thread].last = parts.count - 1
    }

    private mutating func run(_ thread: Int) {
        let begin = threads[thread].time
        add(
            Part(
                thread: thread, begin: begin, end: begin + .random(in: 1...500, using: &random),
                before: threads[thread].last, isRun: true))
    }

    private mutating func step() {
        let one = alive().randomElement(using: &random)!
        run(one)
        let way = Way.allCases.randomElement(using: &random)!
        let isAnywhere = way == .pipe || way == .poll
        let others = alive(in: isAnywhere ? nil : threads[one].process).filter { $0 != one }
        switch way {
        case .creation:
            if threads.count < 12 { create(by: one) }
        case .barrier:
            if !others.isEmpty { meet([one] + others.shuffled(using: &random).prefix(3)) }
        case .join:
            // The first thread of a process is never over.
            if let other = others.filter({ $0 > 1 }).randomElement(using: &random) {
                run(other)
                join(other, by: one)
                run(one)
            }
        default:
            guard let other = others.randomElement(using: &random) else { return }
            wait(one, for: other, way, newObject())
            run(one)
            run(other)
        }
    }

    /// Who makes a thread goes on at once; the thread begins somewhat later.
    private mutating func create(by maker: Int) {
        let process = threads[maker].process, begin = threads[maker].time, before = threads[maker].last
        let number = freeNumbers[process].popLast() ?? UInt64(0x100 * (threads.count + 1))
        threads[maker].records.enter(Self.createFunction, at: begin)
        threads[maker].records.wake(FATHOM_WAIT_CREATION, for: number, at: begin)
        let end = begin + .random(in: 1...20, using: &random)
        threads[maker].records.exit(at: end)
        add(Part(thread: maker, begin: begin, end: end, before: before, isRun: true))
        var thread = Thread(process: process, number: number)
        let beginning = begin + .random(in: 1...30, using: &random)
        thread.records.wake(FATHOM_WAIT_BEGINNING, for: number, at: beginning)
        thread.first = beginning + .random(in: 0...10, using: &random)
        thread.records.enter(Self.mainFunction, at: thread.first)
        threads.append(thread)
        add(Part(thread: threads.count - 1, begin: begin, end: thread.first, before: before, isRun: false))
        run(threads.count - 1)
    }

    /// `thread` waits until `other` is where it is now, unless that is in the past.
    private mutating func wait(_ thread: Int, for other: Int, _ way: Way, _ object: UInt64) {
        let kind: UInt32 =
            switch way {
            case .mutex: FATHOM_WAIT_MUTEX
            case .condition: FATHOM_WAIT_CONDITION
            case .futex: FATHOM_WAIT_FUTEX
            case .pipe: FATHOM_WAIT_DESCRIPTOR
            case .poll: FATHOM_WAIT_POLL
            default: FATHOM_WAIT_SEMAPHORE
            }
        let endsIt = kind == FATHOM_WAIT_POLL ? FATHOM_WAIT_DESCRIPTOR : kind
        let comesIn = endsIt == FATHOM_WAIT_DESCRIPTOR
        let moment = threads[other].time, begin = threads[thread].time
        threads[other].records.wake(endsIt, for: object, at: moment)
        // Something else is done to the object, which ends no wait: a lock was had by a third one in between, or more is
        // written to a pipe that has something in it already.
        for third in alive(in: comesIn ? nil : threads[thread].process) where third != thread && third != other {
            let time = threads[third].time
            if comesIn ? time > moment : time < moment { threads[third].records.wake(endsIt, for: object, at: time) }
        }
        guard moment > begin else { return }
        finish(thread, kind, object, begin, moment, after: threads[other].last)
    }

    /// Ends a wait that began then, a little after the moment when it could end.
    private mutating func finish(
        _ thread: Int, _ kind: UInt32, _ object: UInt64, _ begin: UInt64, _ moment: UInt64, after before: Int?
    ) {
        let end = moment + .random(in: 1...20, using: &random)
        threads[thread].records.enter(Self.waitFunction, at: begin)
        threads[thread].records.wait(kind, for: object, ran: 0)
        threads[thread].records.exit(at: end)
        add(Part(thread: thread, begin: moment, end: end, before: before, isRun: false))
    }

    private mutating func join(_ other: Int, by thread: Int) {
        let moment = threads[other].time, begin = threads[thread].time, number = threads[other].number
        threads[other].records.wake(FATHOM_WAIT_THREAD, for: number, at: moment)
        threads[other].records.exit(at: moment)
        threads[other].isOver = true
        if moment > begin {
            finish(thread, FATHOM_WAIT_THREAD, number, begin, moment, after: threads[other].last)
        }
        // A number is another thread's only when it is surely later.
        if threads.allSatisfy({ $0.isOver || $0.time >= moment }) {
            freeNumbers[threads[other].process].append(number)
        }
    }

    /// All come to a barrier. Whoever comes last ends the wait of the others.
    private mutating func meet(_ members: [Int]) {
        let object = newObject()
        let sorted = members.sorted { (threads[$0].time, $0) < (threads[$1].time, $1) }
        let last = sorted[sorted.count - 1], moment = threads[last].time
        guard sorted.dropLast().allSatisfy({ threads[$0].time < moment }) else { return }
        let before = threads[last].last
        for member in sorted {
            let begin = threads[member].time
            threads[member].records.wake(FATHOM_WAIT_BARRIER, for: object, at: begin)
            finish(member, FATHOM_WAIT_BARRIER, object, begin, moment, after: before)
        }
    }

    /// The critical path from the end of the first thread back; neighbours that one thread ran are one.
    var criticalPath: [Part] {
        var path: [Part] = []
        var next = threads[0].last
        while let index = next {
            let part = parts[index]
            if let later = path.last, later.isRun, part.isRun, later.thread == part.thread {
                path[path.count - 1].begin = part.begin
            } else {
                path.append(part)
            }
            next = part.before
        }
        for index in path.indices { path[index].before = nil }
        return path
    }

    /// Writes the session.
    func write(to path: String) throws {
        let writer = TraceWriter()
        for (index, thread) in threads.enumerated() {
            var options = TraceWriter.ChunkOptions()
            options.process = UInt32(thread.process)
            options.pid = UInt32(1000 + thread.process)
            options.thread = UInt32(threads[...index].count { $0.process == thread.process })
            options.tid = UInt32(1000 + index)
            writer.add(options, records: thread.records.bytes)
        }
        try writer.write(to: path)
    }
}
