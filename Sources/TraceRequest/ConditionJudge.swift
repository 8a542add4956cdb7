internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
public import TraceRecording
internal import TraceSystem
internal import TraceText

/// Decides by `--when` which calls are worth saving.
///
/// The program tells of calls by their function's address, and only of those that exceed the lowest limit of all. So names
/// are looked up here, once a function, and percentiles are taken now and then from what the ring holds.
public final class ConditionJudge: FlightJudge, @unchecked Sendable {
    private let conditions: [FlightCondition]
    private let hasPercentiles: Bool
    /// Those that the program itself looks at, in the order of their bits.
    private let onArguments: [FlightCondition]
    /// The limits in ns, as far as they are known, in the order of the conditions.
    private var limits: [UInt64?]
    /// When percentiles are looked at again, in ns, and the pause after that, as long as some are not known.
    private var nextLook: UInt64 = 0, pause = ConditionJudge.firstPause
    /// The same where a call has come whose limit is not known.
    private var nextUrgentLook: UInt64 = 0
    private var names: [Function: String] = [:]
    /// What the ring's metadata said when it was read last, and when that was, in ns.
    private var known: Known?

    private static let second: UInt64 = 1_000_000_000
    /// So many calls are needed before a percentile is one.
    private static let warmUp: UInt64 = 1000
    /// Percentiles move slowly, and reading the whole ring takes the time of a processor: this part of it at most.
    private static let share: UInt64 = 50, urgentShare: UInt64 = 10
    private static let firstPause = second / 20, longestPause = 60 * second, pauseOfKnown = 10 * second
    /// As long as a percentile is not known, the program tells of calls that took this, in ns: when one comes, it is known perhaps.
    private static let longUntilKnown = second / 1000
    /// The age up to which metadata is good enough, in ns. A library that is unloaded, and another one loaded in its place,
    /// within this time may be taken for each other.
    private static let freshness = second / 10

    /// A function by its address, as long as its module stays.
    private struct Function: Hashable {
        var process: UInt32
        var address: UInt64
        var module: UInt64
    }

    private final class Known {
        let session: Session
        let time: UInt64
        /// Reads symbols when somebody asks.
        lazy var query = SessionQuery(session, QueryOptions())

        init(_ session: Session, at time: UInt64) {
            self.session = session
            self.time = time
        }
    }

    public init(_ conditions: [FlightCondition]) {
        self.conditions = conditions
        limits = conditions.map {
            if $0.comparisons.isEmpty, case .time(let time) = $0.limit { time } else { nil }
        }
        onArguments = conditions.filter { !$0.comparisons.isEmpty }
        hasPercentiles = conditions.contains { if case .percentile = $0.limit { true } else { false } }
    }

    private static var now: UInt64 { SystemClock.monotonic }

    public func leastDuration(in ring: String) -> UInt64? {
        let begin = Self.now
        if hasPercentiles, begin >= nextLook {
            lookAtPercentiles(in: ring)
            let end = Self.now
            nextLook = end + max(knowsAll ? Self.pauseOfKnown : pause, (end - begin) * Self.share)
            pause = min(pause * 2, Self.longestPause)
        }
        return (limits + (knowsAll ? [] : [Self.longUntilKnown])).compactMap { $0 }.min()
    }

    /// Whether all limits are known that the program does not look at itself.
    private var knowsAll: Bool { !zip(limits, conditions).contains { $0 == nil && $1.comparisons.isEmpty } }

    public func reason(for call: LongCall, in ring: String) -> String? {
        if call.conditions != 0 { return reason(ofArguments: call, in: ring) }
        let ofTime = conditions.indices.filter { conditions[$0].comparisons.isEmpty }
        let mayBeLong = ofTime.contains { limits[$0].map { call.duration >= $0 } ?? true }
        guard mayBeLong, let name = name(of: call, in: ring) else { return nil }
        for index in ofTime where conditions[index].function.matches(name) {
            // The ring may have enough calls by now.
            if limits[index] == nil { lookUrgently(in: ring) }
            guard let limit = limits[index], call.duration >= limit else { continue }
            return "\(name) took \(String(time: call.duration)) (--when \(conditions[index].text))"
        }
        return nil
    }

    private func lookUrgently(in ring: String) {
        let begin = Self.now
        guard begin >= nextUrgentLook else { return }
        lookAtPercentiles(in: ring)
        let end = Self.now
        nextUrgentLook = end + (end - begin) * Self.urgentShare
    }

    /// The program has looked at the arguments and the time already.
    private func reason(ofArguments call: LongCall, in ring: String) -> String? {
        let met = onArguments.indices.first { call.conditions >> UInt32($0) & 1 != 0 }
        guard let met, let name = name(of: call, in: ring) else { return nil }
        return "\(name) took \(String(time: call.duration)) (--when \(onArguments[met].text))"
    }

    private func name(of call: LongCall, in ring: String) -> String? {
        let now = Self.now
        if known.map({ now - $0.time > Self.freshness }) ?? true {
            guard let session = try? Session(path: ring, readsCalls: false) else { return nil }
            known = Known(session, at: now)
        }
        guard let known, let process = known.session.processes.first(where: { $0.index == call.process })
        else {
            self.known = nil
            return nil
        }
        let module = process.modules.last {
            ($0.low..<$0.high).contains(call.function) && $0.seenTicks <= call.endTicks
                && $0.unloadTicks > call.endTicks
        }
        let function = Function(process: call.process, address: call.function, module: module?.seenTicks ?? 0)
        if let name = names[function] { return name }
        let space = known.query.resolver.space(of: process)
        let name = space.functions[space.function(at: call.function, ticks: call.endTicks)].name
        // The name of what lies in no module may come later.
        if module != nil { names[function] = name }
        return name
    }

    private func lookAtPercentiles(in ring: String) {
        guard let session = try? Session(path: ring), let query = try? AggregateQuery(session, QueryOptions()),
            let rows = try? query.functionRows().rows
        else { return }
        for (index, condition) in conditions.enumerated() {
            guard case .percentile(let percent, let times) = condition.limit else { continue }
            let matching = rows.filter { row in
                guard case .function(let id) = row.subject else { return false }
                return condition.function.matches(query.functions[id].name)
            }
            // Where several functions match, the one that is called most decides.
            guard let row = matching.max(by: { $0.calls < $1.calls }), row.calls >= Self.warmUp else { continue }
            let percentiles = row.percentiles
            let duration = percent == 50 ? percentiles.p50 : percent == 90 ? percentiles.p90 : percentiles.p99
            limits[index] = UInt64((Double(duration) * times).rounded())
        }
    }
}
