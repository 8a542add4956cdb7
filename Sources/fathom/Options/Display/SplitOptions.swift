internal import ArgumentParser
internal import TraceFile
internal import TraceQuery
internal import TraceReports

/// Which parts of times are shown.
struct SplitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Show how much of each time was on a CPU, blocked, or runnable without a CPU: cpu, blocked, runnable or all. \
            --min-cost and --sort time go by the one that is asked for.
            """, valueName: "parts"))
    var times: SplitTimes.Shown?

    /// Bad wishes are thrown: what `session` does not know.
    ///
    /// - Parameter order: what is sorted by.
    func split(of session: Session, for order: ReportOrder? = nil) throws -> SplitTimes {
        if times != nil || order?.part != nil { try session.requireSplitTimes() }
        let knowsRunnable = session.switches != nil
        if times == .runnable, !knowsRunnable { try session.requireSwitches() }
        if order?.isOfMemory == true { try session.requireMemory() }
        if order?.isOfFaults == true { try session.requireFaults() }
        var split = SplitTimes(isKnown: session.splitsTimes, knowsRunnable: knowsRunnable, shown: times)
        split.knowsMemory = session.tellsMemory
        split.knowsFaults = session.faults != nil
        return split
    }
}
