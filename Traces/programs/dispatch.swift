// Threads of Foundation's and of Dispatch's. Prints what it counted itself: "thread calls" of `work`.
import Dispatch
import Foundation

final class Truth: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [String: Int] = [:]

    func note() {
        // process/task/thread
        guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self") else { return }
        lock.withLock { calls[String(link.split(separator: "/").last!), default: 0] += 1 }
    }

    func tell() { for (thread, count) in calls { print(thread, count) } }
}

let truth = Truth()

@inline(never) func work() { truth.note() }

@inline(never) func threads(_ count: Int) {
    let done = DispatchGroup()
    for _ in 0..<count {
        done.enter()
        let thread = Thread {
            for _ in 0..<5 { work() }
            done.leave()
        }
        thread.name = "worker"
        thread.start()
    }
    done.wait()
}

// Closures that are alike are functions of their own all the same.

@inline(never) func perform(_ count: Int) {
    DispatchQueue.concurrentPerform(iterations: count) { _ in work() }
}

@inline(never) func global(_ count: Int) {
    let group = DispatchGroup()
    for _ in 0..<count { DispatchQueue.global().async(group: group) { work() } }
    group.wait()
}

@inline(never) func serial(_ count: Int) {
    let queue = DispatchQueue(label: "serial")
    for _ in 0..<count { queue.async { work() } }
    queue.sync { work() }
}

threads(3)
perform(1000)
global(100)
serial(50)
truth.tell()
