internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceScreen
internal import TraceText

/// The calls that each thread of a running program is in, as lines.
final class OpenCallsText {
    private let path: String
    private lazy var session = try? LiveSession(at: path)

    init(_ path: String) { self.path = path }

    /// Returns the lines as they are now.
    func lines() -> [(text: String, style: ScreenStyle)] {
        guard let session else { return [("nothing is being recorded any more", .plain)] }
        if !session.threads.content.tellsOpenCalls {
            return [("this recording does not keep which calls are open", .plain)]
        }
        let threads = session.threads.look()
        var lines: [(text: String, style: ScreenStyle)] = []
        for thread in threads {
            if !lines.isEmpty { lines.append(("", .plain)) }
            let isMain = thread.tid == thread.pid
            let name = thread.name.isEmpty ? "" : " \(thread.name)"
            lines.append(("process \(thread.pid), thread \(thread.tid)\(isMain ? " main" : "")\(name)", .bold))
            lines += calls(thread.calls, of: thread, session)
            for (lane, calls) in thread.parked.sorted(by: { $0.key < $1.key }) {
                lines.append(("    on another stack, which does not run (lane \(lane))", .dim))
                lines += self.calls(calls, of: thread, session)
            }
        }
        return lines.isEmpty ? [("no thread is in a call that is recorded", .plain)] : lines
    }

    private func calls(
        _ calls: [LiveCall], of thread: LiveThread, _ session: LiveSession
    ) -> [(text: String, style: ScreenStyle)] {
        if calls.isEmpty { return [("    in no call", .dim)] }
        let now = session.threads.now, clock = session.threads.clock
        return calls.enumerated().map { depth, call in
            let ticks = now > call.enterTicks ? now - call.enterTicks : 0
            let time = String(time: clock.nanoseconds(in: ticks))
            let padding = String(repeating: " ", count: max(12 - time.columns, 1))
            let indentation = String(repeating: " ", count: min(depth, OpenCallsText.deepestIndented) * 2)
            let name = session.function(at: call.function, of: thread.process).name
            return ("\(padding)\(time)  \(indentation)\(name)\(call.isInherited ? " (inherited)" : "")", .plain)
        }
    }

    private static let deepestIndented = 16
}
