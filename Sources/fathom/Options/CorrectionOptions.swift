internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFormat

/// Whether times are shown as they were recorded.
struct CorrectionOptions: ParsableArguments {
    enum Times: String, EnumerableFlag {
        case raw, corrected

        static func help(for value: Times) -> ArgumentHelp? {
            switch value {
            case .raw: "Times as they were recorded, with the cost of tracing in them."
            case .corrected: "Times without the cost of tracing; the default after record --baseline."
            }
        }
    }

    @Flag(exclusivity: .exclusive)
    var times: Times?

    /// What is to be taken out of the times of `session`; nil for nothing.
    ///
    /// - Parameter isWhole: all of the recording is looked at. The cost of a part is not known: calls that reach beyond it
    ///   would be relieved of all their callees' cost.
    func cost(of session: Session, isWhole: Bool) throws -> TracingCost? {
        if times == .raw { return nil }
        if !isWhole {
            guard times == .corrected else { return nil }
            throw ValidationError("--corrected is for the whole recording, without --from and --to")
        }
        let cost = TracingCost(of: session)
        if times == .corrected, cost == nil {
            throw Diagnostics.fail(
                "\(session.path): has no baseline to correct by: fathom record --baseline", status: 1)
        }
        return cost
    }
}
