internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceText

/// Decides by `--when` which calls are worth saving.
///
/// The program tells of calls by their function's address, and only of those that exceed the lowest limit of all. So names
/// are looked up here, once a function, and percentiles are taken from what the ring holds, every ten seconds.
final class ConditionJudge: FlightJudge, @unchecked Sendable {
    private let conditions: [FlightCondition]
    private var names: [Address: String] = [:]
    /// The limits in ns, as far as they are known, in the order of the conditions.
    private var limits: [UInt64?]
    /// When percentiles are looked at again, in seconds of CLOCK_MONOTONIC.
    private var nextLook = 0

    /// So many calls are needed before a percentile is one.
    private static let warmUp: UInt64 = 1000

    private struct Address: Hashable {
        var process: UInt32
        var function: UInt64
    }

    init(_ conditions: [FlightCondition]) {
        self.conditions = conditions
        limits = conditions.map { if case .time(let time) = $0.limit { time } else { nil } }
    }

    func leastDuration(in ring: String) -> UInt64? {
        let hasPercentiles = conditions.contains { if case .percentile = $0.limit { true } else { false } }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        if hasPercentiles, now.tv_sec >= nextLook {
            lookAtPercentiles(in: ring)
            // Until the calls have become enough, each second.
            nextLook = now.tv_sec + (limits.contains { $0 == nil } ? 1 : 10)
        }
        return limits.compactMap { $0 }.min()
    }

    func reason(for call: LongCall, in ring: String) -> String? {
        let isLong = limits.contains { $0.map { call.duration >= $0 } ?? false }
        guard isLong, let name = name(of: call, in: ring) else { return nil }
        for (condition, limit) in zip(conditions, limits) {
            guard let limit, call.duration >= limit, condition.function.matches(name) else { continue }
            return "\(name) took \(String(time: call.duration)) (--when \(condition.text))"
        }
        return nil
    }

    private func name(of call: LongCall, in ring: String) -> String? {
        let address = Address(process: call.process, function: call.function)
        if let known = names[address] { return known }
        guard let session = try? Session(path: ring),
            let process = session.processes.first(where: { $0.index == call.process })
        else { return nil }
        let query = SessionQuery(session, QueryOptions())
        let space = query.resolver.space(of: process)
        let name = space.functions[space.function(at: call.function, ticks: call.endTicks)].name
        names[address] = name
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
