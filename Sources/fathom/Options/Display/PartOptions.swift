internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery

/// The one part of times that a view of call paths shows.
struct PartOptions: ParsableArguments {
    enum Part: String, ExpressibleByArgument, CaseIterable {
        case cpu, blocked, runnable

        var kind: TimeKind {
            switch self {
            case .cpu: .running
            case .blocked: .blocked
            case .runnable: .runnable
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "Instead of all time, only that on a CPU, blocked, or runnable without a CPU: cpu, blocked or runnable.",
            valueName: "part"))
    var time: Part?

    /// What is shown of `session`. Bad wishes are thrown: what it does not know.
    func kind(of session: Session) throws(QueryError) -> TimeKind {
        guard let time else { return .total }
        try session.requireSplitTimes()
        if time == .runnable { try session.requireSwitches() }
        return time.kind
    }
}
