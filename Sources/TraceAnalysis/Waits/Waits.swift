public import TraceFile

/// All waits of some threads, each joined with what ended it.
public struct Waits {
    public let threads: [TracedThread]
    public private(set) var waits: [Wait] = []
    /// In the order of time.
    public private(set) var wakes: [Wake] = []
    public private(set) var paths = WaitPaths()

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
        var found: [Wait] = []
        for (index, thread) in all.enumerated() {
            // Moments of several threads are compared, so they are on the clock that all share.
            let shared = thread.onSharedClock
            var sink = WaitSink(
                index, resolver.space(of: thread.process), shared.offCPU(), hasSwitches: session.switches != nil,
                paths: paths)
            progress?.begin(thread)
            StackReplay.run(shared, clock: session.clock, onChunk: { progress?.read(chunk: $0) }, into: &sink)
            if isAsked(thread) { found += sink.waits.filter { $0.time > 0 } }
            wakes += sink.wakes
            paths = sink.paths
        }
        wakes.sort { ($0.moment, $0.thread) < ($1.moment, $1.thread) }
        waits = found.sorted { ($0.begin, $0.thread) < ($1.begin, $1.thread) }
        join()
    }

    private func object(_ kind: WaitKind, _ number: UInt64, of thread: Int) -> Object {
        let process = kind == .descriptor ? .max : threads[thread].process.index
        return Object(process: process, kind: kind, number: number)
    }

    /// Joins each wait with the last thing that another thread did, while it lasted, to end a wait for the same object.
    private mutating func join() {
        var byObject: [Object: [Int]] = [:]
        for (index, wake) in wakes.enumerated() where wake.object != 0 {
            byObject[object(wake.kind, wake.object, of: wake.thread), default: []].append(index)
        }
        for index in waits.indices {
            guard case .call(let kind) = waits[index].kind, waits[index].object != 0,
                let candidates = byObject[object(kind, waits[index].object, of: waits[index].thread)]
            else { continue }
            var (low, high) = (0, candidates.count)
            while low < high {
                let middle = (low + high) / 2
                if wakes[candidates[middle]].moment <= waits[index].end { low = middle + 1 } else { high = middle }
            }
            let wait = waits[index]
            waits[index].wake = candidates[..<low].last {
                wakes[$0].thread != wait.thread || wakes[$0].moment < wait.begin
            }.flatMap { wakes[$0].thread != wait.thread && wakes[$0].moment >= wait.begin ? $0 : nil }
        }
    }

    /// How many of the threads wanted a CPU at once and had none, at most.
    public var mostRunnable: Int {
        var events: [(moment: UInt64, change: Int)] = []
        for wait in waits where wait.kind == .cpu {
            events.append((wait.begin, 1))
            events.append((wait.end, -1))
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
