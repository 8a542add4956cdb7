public import TraceFile
public import TraceText

/// Tells what is asked of a recording that is running, and how far its processes are with it.
public struct SteeringReport: Report {
    private let status: SteeringStatus
    private let layout: TextLayout

    public init(_ status: SteeringStatus, layout: TextLayout = TextLayout()) {
        self.status = status
        self.layout = layout
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    private func writeText(to writer: ByteWriter) {
        func line(_ lead: String, _ words: String) { layout.writeLine(lead, words, to: writer) }
        line("session    ", "\(status.session.visible), mode \(status.mode.rawValue)")
        line("recorder   ", status.recorder.map { "process \($0)" } ?? "gone; processes go on without it")
        let date = DateText.utc(secondsSinceEpoch: status.askedNanoseconds / 1_000_000_000)
        let command =
            status.number == 0 ? "nothing yet, so as fathom record was told" : "command \(status.number), \(date)"
        let functions = status.functions.map { $0.isEmpty ? ", all functions" : ", \($0.visible)" } ?? ""
        line("asked      ", "\(command): \(Self.text(of: status.asked, in: status.mode))\(functions)")
        line("processes  ", "\(status.processes.count)\(status.isFull ? ", and perhaps more" : "")")
        for process in status.processes { line("  \(process.pid)  ", text(of: process)) }
    }

    private static func text(of wish: SteeringStatus.Wish, in mode: RecordOptions.Mode) -> String {
        var text = wish.records ? "recording" : "stopped"
        if mode.keepsPaths { return text }
        if let depth = wish.maxDepth { text += depth < 0 ? ", no calls" : ", to depth \(depth)" }
        if wish.minCost > 0 {
            text += ", calls of \(String(time: wish.minCost)) and more"
        }
        return text
    }

    private func text(of process: SteeringStatus.Process) -> String {
        guard let does = process.does else { return "records nothing any more: it confined itself" }
        if process.lacksFunctions { return "goes by the functions named before: it cannot read the session's files" }
        let threads = "\(process.threads) thread\(process.threads == 1 ? "" : "s")"
        let state = Self.text(of: does, in: status.mode)
        if process.taken != status.number {
            return "\(state); has not taken the command up: it has made no call since (\(threads))"
        }
        if process.currentThreads >= process.threads { return "\(state); all of \(threads)" }
        let others = process.threads - process.currentThreads
        return "\(state); \(process.currentThreads) of \(threads), "
            + "the other\(others == 1 ? " has" : "s have") made no call since"
    }

    /// `{"session","mode","recorder_pid","asked":{"number","at_ns","recording",…},"processes":[{"pid",…}],"may_have_more"}`
    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        func write(_ wish: SteeringStatus.Wish) {
            json.field("recording", wish.records)
            json.field("max_depth", wish.maxDepth)
            json.field("min_cost_ns", wish.minCost)
        }
        json.document {
            json.field("session", status.session)
            json.field("mode", status.mode.rawValue)
            json.field("recorder_pid", status.recorder)
            json.object("asked") {
                json.field("number", status.number)
                json.field("at_ns", status.askedNanoseconds)
                write(status.asked)
                json.field("functions", status.functions)
            }
            json.objects("processes", status.processes) { process in
                json.field("pid", process.pid)
                json.field("is_off", process.does == nil)
                json.field("taken", process.taken)
                json.field("is_current", process.taken == status.number)
                json.field("lacks_functions", process.lacksFunctions)
                json.field("threads", process.threads)
                json.field("current_threads", process.currentThreads)
                if let does = process.does { write(does) }
            }
            json.field("may_have_more", status.isFull)
        }
    }
}
