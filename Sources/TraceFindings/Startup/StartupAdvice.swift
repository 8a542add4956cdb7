internal import TraceFile

/// Something to do about a slow start, and what that would gain at most.
public struct StartupAdvice: Sendable {
    public enum Kind: Sendable {
        /// More libraries than the loader takes without being noticed, the system's not counted.
        case manyLibraries([String])
        /// Nobody needs anything of a library.
        case unusedLibrary(String)
        /// An initializer, by its index.
        case initializer(Int)
        /// Short calls, made often, by all paths together.
        case frequent(function: UInt32, calls: UInt64)
        /// As many long calls by the same path, which may do the same again.
        case repeated(path: [UInt32], calls: UInt64)
        /// main waited there; the path of what ended most of it, and its thread.
        case wait(path: [UInt32], waker: [UInt32], wakerThread: Int?)
        /// Work of main's that no other thread waits for.
        case deferrable(path: [UInt32])
    }

    public var kind: Kind
    /// ns.
    public var gain: UInt64

    public init(_ kind: Kind, gain: UInt64) {
        self.kind = kind
        self.gain = gain
    }
}

extension StartupAdvice {
    /// Libraries beside the system's that a start does not notice.
    public static let mostLibraries = 6
    /// What is less of the total, in a thousand, is not worth saying.
    private static let leastShare: UInt64 = 10
    /// Calls are short below this, and often from so many on.
    private static let shortCall: UInt64 = 100_000, oftenCalls: UInt64 = 100
    /// Calls are long from this on, and repeated rather than a loop up to so many.
    private static let longCall: UInt64 = 500_000, mostRepeats: UInt64 = 20

    /// What is to be done about what ran and waited, the most gain first.
    ///
    /// - Parameters:
    ///   - waits: nil where they were not recorded.
    ///   - initializers: how long each took.
    ///   - mainNode: index of main's calls; nil where it has no hooks.
    public static func all(
        total: UInt64, main: UInt64?, end: UInt64, initializers: [UInt64], calls: StartupCalls,
        mainNode: Int32?, waits: Waits?
    ) -> [StartupAdvice] {
        let least = max(total / 1000 * leastShare, 1)
        var advice: [StartupAdvice] = []
        for (index, time) in initializers.enumerated() where time >= least {
            advice.append(StartupAdvice(.initializer(index), gain: time))
        }
        advice += frequent(calls).filter { $0.gain >= least }
        advice += repeated(calls).filter { $0.gain >= least }
        let ended = waits.map { mainWaits($0, calls, from: main ?? 0, to: end) }
        advice += (ended?.advice ?? []).filter { $0.gain >= least }
        advice += deferrable(calls, main: mainNode, awaited: ended?.awaited ?? [], waiting: ended?.waiting ?? [])
            .filter { $0.gain >= least }
        return advice.sorted { $0.gain > $1.gain }
    }

    /// A function within a call of itself counts once.
    private static func frequent(_ calls: StartupCalls) -> [StartupAdvice] {
        var sums: [UInt32: (calls: UInt64, total: UInt64)] = [:]
        for (index, node) in calls.nodes.enumerated() where node.thread == calls.main {
            let isOutermost = !calls.path(to: index).dropLast().contains(node.function)
            let sum = sums[node.function] ?? (0, 0)
            sums[node.function] = (sum.calls + node.calls, sum.total + (isOutermost ? node.total : 0))
        }
        return sums.filter { $0.value.calls >= oftenCalls && $0.value.total / $0.value.calls < shortCall }
            .sorted { ($1.value.total, $0.key) < ($0.value.total, $1.key) }.prefix(5)
            .map { StartupAdvice(.frequent(function: $0.key, calls: $0.value.calls), gain: $0.value.total) }
    }

    private static func repeated(_ calls: StartupCalls) -> [StartupAdvice] {
        var found: Set<Int32> = []
        var advice: [StartupAdvice] = []
        for (index, node) in calls.nodes.enumerated() where node.thread == calls.main {
            // What a repeated call calls is repeated, too.
            if found.contains(node.caller) {
                found.insert(Int32(index))
                continue
            }
            guard 2...mostRepeats ~= node.calls, node.shortest >= longCall, node.caller != -1 else { continue }
            found.insert(Int32(index))
            advice.append(
                StartupAdvice(
                    .repeated(path: calls.path(to: index), calls: node.calls),
                    gain: node.total - node.total / node.calls))
        }
        return advice
    }

    /// The waits of the main thread, by path; the functions in whose calls others' waits were ended, and those that waited.
    private static func mainWaits(
        _ waits: Waits, _ calls: StartupCalls, from begin: UInt64, to end: UInt64
    ) -> (advice: [StartupAdvice], awaited: Set<UInt32>, waiting: Set<UInt32>) {
        guard let main = calls.main else { return ([], [], []) }
        let thread = waits.threads.firstIndex { $0.tid == calls.threads[main].tid }
        var sums: [Int32: (time: UInt64, longest: UInt64, wake: Int?)] = [:]
        var awaited: Set<UInt32> = []
        for wait in waits.waits where wait.begin < end && wait.end > begin {
            if let wake = wait.wake, wait.thread != thread, wait.end <= end {
                awaited.formUnion(waits.paths.functions(of: waits.wakes[wake].path))
            }
            guard wait.thread == thread, wait.kind != .cpu else { continue }
            let time = min(wait.time, min(wait.end, end) - max(wait.begin, begin))
            var sum = sums[wait.path] ?? (0, 0, nil)
            sum.time += time
            if time > sum.longest { (sum.longest, sum.wake) = (time, wait.wake) }
            sums[wait.path] = sum
        }
        let advice = sums.sorted { ($1.value.time, $0.key) < ($0.value.time, $1.key) }.map { path, sum in
            let wake = sum.wake.map { waits.wakes[$0] }
            return StartupAdvice(
                .wait(
                    path: waits.paths.functions(of: path), waker: wake.map { waits.paths.functions(of: $0.path) } ?? [],
                    wakerThread: wake?.thread), gain: sum.time)
        }
        return (advice, awaited, Set(sums.keys.compactMap { waits.paths.functions(of: $0).last }))
    }

    /// What main calls itself, where no other thread waits for the end of it. Where one of these takes nearly all the time, what that calls
    /// is looked at instead.
    private static func deferrable(
        _ calls: StartupCalls, main: Int32?, awaited: Set<UInt32>, waiting: Set<UInt32>
    ) -> [StartupAdvice] {
        guard var caller = main else { return [] }
        var callees: [Int] = []
        repeat {
            callees = calls.nodes.indices.filter { calls.nodes[$0].caller == caller }
            guard let most = callees.max(by: { calls.nodes[$0].total < calls.nodes[$1].total }),
                calls.nodes[most].total > calls.nodes[Int(caller)].total / 10 * 9, calls.nodes[most].callees > 0
            else { break }
            caller = Int32(most)
        } while true
        return callees.filter { calls.nodes[$0].calls == 1 }
            .filter { !awaited.contains(calls.nodes[$0].function) && !waiting.contains(calls.nodes[$0].function) }
            .map { StartupAdvice(.deferrable(path: calls.path(to: $0)), gain: calls.nodes[$0].total) }
    }
}
