internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceScreen
internal import TraceSystem
internal import TraceText

/// What a ``TraceScreen`` shows of a running program, look by look.
struct RunningScreen {
    private let query: RunningQuery
    private let title: String
    /// When the session began, in ns since 1970; 0 when that is not known.
    private let start: UInt64
    private var choices: [RunningQuery.Choice] = []
    private var chosen: RunningQuery.Choice?
    /// Each function's own time at the last look, in ns, and when that was.
    private var before: (times: [UInt32: UInt64], at: UInt64)?
    /// Whether the recorder has ended, and everything was read.
    private(set) var isOver = false

    init(_ session: Session, _ options: QueryOptions) throws {
        query = try RunningQuery(session, options, listener: QueryListener(warn: { Diagnostics.warn($0) }))
        title = PathText.name(session.path).visible
        start = session.startRealtimeNanoseconds
    }

    /// Reads what is new, for about so long at most.
    ///
    /// - Returns: the part of the recording that was read, 0...1.
    mutating func read(for nanoseconds: UInt64) -> Double {
        part = query.read(for: nanoseconds)
        return part
    }

    /// What was read of the recording when it was read last, 0...1.
    private var part = 1.0

    /// The next content shows one of the choices of the last one.
    mutating func choose(_ choice: Int) {
        chosen = choice == 0 ? nil : choices[choice]
        before = nil
    }

    /// Returns what is known now.
    mutating func content() throws -> ScreenContent {
        let moment = try query.moment(chosen)
        choices = moment.choices
        let rows = moment.tree.rows(by: .function)
        var content = ScreenContent(moment.tree, rows: rows, title: title)
        content.isLive = true
        content.choices = choices.map { ScreenContent.Choice($0.title, level: $0.isThread ? 1 : 0) }
        content.chosen = chosen.flatMap { chosen in choices.firstIndex { $0.isSame(as: chosen) } } ?? 0
        isOver = !moment.isRecording && moment.isThrough
        content.status = status(moment, rows)
        var times: [UInt32: UInt64] = [:]
        for row in rows { if case .function(let id) = row.subject { times[id] = row.selfTime } }
        // What is read of the past is nothing of the last second.
        if let before, moment.isThrough {
            content.interval = moment.at > before.at ? moment.at - before.at : 0
            content.recent = times.reduce(into: [:]) { recent, time in
                let last = before.times[time.key] ?? 0
                if time.value > last { recent[time.key] = time.value - last }
            }
        }
        before = moment.isThrough ? (times, moment.at) : nil
        return content
    }

    private func status(_ moment: RunningQuery.Moment, _ rows: [AggregateRow]) -> String {
        let calls = rows.reduce(UInt64(0)) { $0 &+ $1.calls }
        var parts: [String] = []
        if isOver {
            parts.append("has ended")
        } else if !moment.isThrough {
            parts.append("reading what was recorded before, \(Int(part * 100)) %")
        } else if start > 0 {
            let elapsed = SystemClock.realtime
            parts.append("for \((elapsed > start ? elapsed - start : 0) / 1_000_000_000) s")
        }
        if moment.isStopped, !isOver { parts.append("stopped") }
        if moment.processes != 1 { parts.append("\(CountText.grouped(UInt64(moment.processes))) processes") }
        parts.append("\(CountText.grouped(UInt64(moment.threads))) thread\(moment.threads == 1 ? "" : "s")")
        parts.append("\(CountText.grouped(calls)) \(moment.tree.functions.counted)")
        if moment.lostCalls > 0 { parts.append("\(CountText.grouped(moment.lostCalls)) calls not recorded") }
        return parts.joined(separator: ", ")
    }
}
