public import TraceAnalysis
public import TraceFile

/// All waits of some threads, each joined with what ended it.
public struct Waits {
    public let threads: [TracedThread]
    public internal(set) var waits: [Wait] = []
    /// In the order of time.
    public private(set) var wakes: [Wake] = []
    public private(set) var paths = WaitPaths()
    /// By thread: what made it begin; nil where that is not known.
    public private(set) var origins: [Origin?] = []

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
