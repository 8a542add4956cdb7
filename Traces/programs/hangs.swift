// Hangs in the way that its argument names, until it is killed.

import Dispatch
import Glibc

@MainActor func blockMainActor() { sleep(1000) }

func spinInATask() async {
    var sum = 0
    while sum >= 0 { sum = (sum + 1) & 0xffff }
}

func waitInATask() async { sleep(1000) }

let first = DispatchQueue(label: "first"), second = DispatchQueue(label: "second")

func wantSecond() { second.sync { print("unreached") } }
func wantFirst() { first.sync { print("unreached") } }

func deadlockQueues() {
    let both = DispatchSemaphore(value: 0)
    second.async {
        both.signal()
        usleep(100_000)
        wantFirst()
    }
    both.wait()
    first.sync { wantSecond() }
}

func waitForGroup() {
    let group = DispatchGroup()
    group.enter()
    group.wait()
}

func waitForSemaphore() { DispatchSemaphore(value: 0).wait() }

@main struct Hangs {
    static func main() async {
        switch CommandLine.arguments.dropFirst().first {
        case "main-actor": blockMainActor()
        case "spin": await Task.detached { await spinInATask() }.value
        case "task": await Task.detached { await waitInATask() }.value
        case "pool":
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<64 { group.addTask { await waitInATask() } }
            }
        case "queues": deadlockQueues()
        case "group": waitForGroup()
        case "semaphore": waitForSemaphore()
        case "suspended": try? await Task.sleep(nanoseconds: 3_000_000_000)
        default: exit(2)
        }
    }
}
