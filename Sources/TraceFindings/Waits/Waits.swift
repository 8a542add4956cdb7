public import TraceAnalysis
public import TraceFile

/// All waits of some threads, each joined with what ended it.
public struct Waits {
    public let threads: [TracedThread]
    public private(set) var waits: [Wait] = []
    /// In the order of time.
    public private(set) var wakes: [Wake] = []
    public private(set) var paths = WaitPaths()
    /// By thread: what made it begin; nil where that is not known.
    public private(set) var origins: [Origin?] = []

    /// What waits and wakes are joined by.
    private struct Object: Hashable {
        /// Index of the process; of what the kernel numbers, .max: that is the same in all processes.
        var process: UInt32
        var kind: WaitKind
        var number: UInt64
    }

    /// Reads `all` threads; waits of others than `threads` are left out in the end.
    ///
    /// - Parameters:
    ///   - all: the threads among which somebody may have ended a wait.
    ///   - isAsked: whether the waits of a thread are asked for.
    ///   - progress: told how far reading is; its end is the caller's to tell.
    /// - Complexity: O(records), and O(depth) for each wait and wake.
    public init(
        of all: [TracedThread], session: Session, resolver: FunctionResolver, isAsked: (TracedThread) -> Bool,
        progress: ReadingProgress? = nil
    ) {
        threads = all
        let made = Waits.wakings(of: all.lazy.filter(isAsked).map(\.tid), session.switches)
        var found: [Wait] = []
        var lives: [ThreadLives.Life] = []
        for (index, thread) in all.enumerated() {
            // Moments of several threads are compared, so they are on the clock that all share.
            let shared = thread.onSharedClock
            // Those before the thread began are of another one that had its id.
            let begin = thread.chunks.first.map { session.clock.nanoseconds(at: $0.beginTicks) } ?? 0
            var sink = WaitSink(
                index, resolver.space(of: thread.process), shared.offCPU(), hasSwitches: session.switches != nil,
                wakings: (made[thread.tid] ?? []).drop { $0.time < begin }, paths: paths)
            progress?.begin(thread)
            StackReplay.run(shared, clock: session.clock, onChunk: { progress?.read(chunk: $0) }, into: &sink)
            if isAsked(thread) { found += sink.waits.filter { $0.time > 0 } }
            wakes += sink.wakes
            paths = sink.paths
            lives.append(ThreadLives.Life(beginning: sink.beginning, last: sink.last))
        }
        let known = ThreadLives(all, lives, session: session)
        wakes += known.ends
        wakes.sort { ($0.moment, $0.thread) < ($1.moment, $1.thread) }
        waits = found.sorted { ($0.begin, $0.thread) < ($1.begin, $1.thread) }
        origins = known.origins(wakes.filter { $0.kind == .creation })
        let asked = Set(all.lazy.filter(isAsked).map(\.tid))
        join(asked.reduce(into: [:]) { $0[$1] = session.switches?.wakings(of: $1) })
    }

    /// When each thread woke one of these, and which, in the order of time.
    private static func wakings(
        of threads: some Sequence<UInt32>, _ log: SwitchLog?
    ) -> [UInt32: [(time: UInt64, woken: UInt32)]] {
        guard let log else { return [:] }
        var made: [UInt32: [(time: UInt64, woken: UInt32)]] = [:]
        for tid in Set(threads) {
            for (time, waker) in log.wakings(of: tid) where waker != 0 { made[waker, default: []].append((time, tid)) }
        }
        return made.mapValues { $0.sorted { $0.time < $1.time } }
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
    private mutating func join(_ woken: [UInt32: [(time: UInt64, waker: UInt32)]]) {
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

    /// How many of the threads wanted a CPU at once and had none, at most.
    public var mostRunnable: Int {
        Waits.most(waits.filter { $0.kind == .cpu }.map { ($0.begin, $0.end) })
    }

    /// How many of some stretches of time there are at once, at most.
    static func most(_ stretches: [(begin: UInt64, end: UInt64)]) -> Int {
        var events: [(moment: UInt64, change: Int)] = []
        for stretch in stretches {
            events.append((stretch.begin, 1))
            events.append((stretch.end, -1))
        }
        events.sort { ($0.moment, $0.change) < ($1.moment, $1.change) }
        var (now, most) = (0, 0)
        for event in events {
            now += event.change
            most = max(most, now)
        }
        return most
    }
}
