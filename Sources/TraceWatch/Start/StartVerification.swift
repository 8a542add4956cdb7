internal import TraceAnalysis
public import TraceFindings
internal import TraceText

/// Starts two builds of a program by turns, cold and warm, to find out which starts better.
public struct StartVerification: Sendable {
    public typealias Failure = StartRun.Failure

    public struct Outcome: Sendable {
        public var comparison: StartComparison
        /// Why no start was cold; nil where they were.
        public var notCold: String?
        public var warnings: [String]
    }

    private let paths: [String]
    private let arguments: [String]
    private let runs: Int
    private let limit: Double

    /// - Parameters:
    ///   - runs: of each build, of either kind.
    ///   - limit: a start that takes more seconds is ended.
    public init(old: String, new: String, _ arguments: [String], runs: Int, limit: Double) {
        paths = [old, new]
        self.arguments = arguments
        self.runs = runs
        self.limit = limit
    }

    /// Makes all the starts, one after the other.
    public func run() throws(Failure) -> Outcome {
        var starts: [[StartComparison.Start]] = [[], []]
        var notCold: String?
        var warnings: [String] = []
        var statuses: [Set<Int32>] = [[], []]
        var wasEnded = false
        // What else the programs read is in memory from here on.
        for path in paths { _ = try StartRun(path, arguments, limit: limit).run() }
        for round in 0..<runs {
            // Which comes first changes, so that neither has what the other left.
            for build in round % 2 == 0 ? [0, 1] : [1, 0] {
                let program = StartRun(paths[build], arguments, limit: limit)
                if notCold == nil {
                    notCold = FilePages.forget(paths[build])
                    if notCold == nil { starts[build].append(Self.start(try program.run(), isCold: true)) }
                }
                let result = try program.run()
                starts[build].append(Self.start(result, isCold: false))
                statuses[build].insert(result.wasEnded ? 0 : result.status)
                wasEnded = wasEnded || result.wasEnded
            }
        }
        if notCold != nil { for build in 0...1 { starts[build].removeAll(where: \.isCold) } }
        if wasEnded {
            warnings.append("starts were ended after \(CountText.fixed(limit, 1)) s, so nothing is told of their time")
        }
        if statuses[0] != statuses[1] { warnings.append("the two builds end with different exit statuses") }
        return Outcome(
            comparison: StartComparison(old: starts[0], new: starts[1]), notCold: notCold, warnings: warnings)
    }

    private static func start(_ result: StartRun.Result, isCold: Bool) -> StartComparison.Start {
        StartComparison.Start(
            isCold: isCold, majorFaults: Double(result.majorFaults), minorFaults: Double(result.minorFaults),
            residentPages: Double(result.residentPages), nanoseconds: result.wasEnded ? nil : Double(result.nanoseconds)
        )
    }
}
