internal import TraceFile

extension Waits {
    /// What waits and wakes are joined by.
    private struct Object: Hashable {
        /// Index of the process; of what the kernel numbers, .max: that is the same in all processes.
        var process: UInt32
        var kind: WaitKind
        var number: UInt64
    }

    /// Those of a thread's wakings between two moments.
    private static func wakings(
        _ all: [(time: UInt64, waker: UInt32)], from begin: UInt64, to end: UInt64
    ) -> ArraySlice<(time: UInt64, waker: UInt32)> {
        let first = all.partitioningIndex { $0.time >= begin }
        return all[first..<max(first, all.partitioningIndex { $0.time > end })]
    }

    private func object(_ kind: WaitKind, _ number: UInt64, of thread: Int) -> Object {
        switch kind {
        case .descriptor, .poll: Object(process: .max, kind: .descriptor, number: number)
        case .child, .fileLock, .signal, .semaphores, .queue: Object(process: .max, kind: kind, number: number)
        default: Object(process: threads[thread].process.index, kind: kind, number: number)
        }
    }

    /// Joins each wait with the last thing that another thread did, while it lasted, to end a wait for the same object; or with
    /// the first one, where something came in by a descriptor, because whatever comes first ends such a wait. Where the kernel
    /// told who woke the thread, only that thread counts, and what it did before: whoever is woken may get a CPU late, and
    /// others may have done the same meanwhile. Where nothing tells of the object, it is the kernel that knows.
    mutating func join(_ woken: [UInt32: [(time: UInt64, waker: UInt32)]]) {
        var byObject: [Object: [Int]] = [:], byWoken: [UInt64: [Int]] = [:]
        for (index, wake) in wakes.enumerated() where wake.object != 0 {
            if let kind = wake.kind {
                byObject[object(kind, wake.object, of: wake.thread), default: []].append(index)
            } else {
                byWoken[wake.object, default: []].append(index)
            }
        }
        for index in waits.indices {
            let wait = waits[index]
            func during(_ candidates: [Int]?) -> ArraySlice<Int> {
                guard let candidates else { return [] }
                let first = candidates.partitioningIndex { wakes[$0].moment >= wait.begin }
                return candidates[first..<candidates.partitioningIndex { wakes[$0].moment > wait.end }]
            }
            func isOther(_ wake: Int) -> Bool { wakes[wake].thread != wait.thread }
            switch wait.kind {
            case .cpu: continue
            case .other: break
            case .call(let kind):
                guard wait.object != 0 else { break }
                let during = during(byObject[object(kind, wait.object, of: wait.thread)])
                let comesIn = (kind == .descriptor || kind == .poll) && !RecordedWait.isForRoom(wait.object)
                waits[index].wake = comesIn ? during.first(where: isOther) : during.last(where: isOther)
                guard waits[index].wake != nil else { break }
                // An interrupt woke it, when that is all that is known, as at the end of a time limit; or what another
                // thread sent came in by one.
                let wakings = Waits.wakings(woken[threads[wait.thread].tid] ?? [], from: wait.begin, to: wait.end)
                for waking in wakings.reversed() where waking.waker != 0 {
                    let known = during.last { wake in
                        isOther(wake) && wakes[wake].moment <= waking.time
                            && threads[wakes[wake].thread].tid == waking.waker
                    }
                    guard let known else { continue }
                    waits[index].wake = known
                    break
                }
            }
            if waits[index].wake == nil {
                waits[index].wake = during(byWoken[UInt64(threads[wait.thread].tid)]).last(where: isOther)
            }
        }
    }
}
