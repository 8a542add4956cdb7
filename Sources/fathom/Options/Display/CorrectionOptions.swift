internal import ArgumentParser
internal import TraceQuery

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

    var query: QueryOptions.Times {
        switch times {
        case .raw: .raw
        case .corrected: .corrected
        case nil: .correctedIfKnown
        }
    }
}
