public import TraceAnalysis
public import TraceText

/// Why a function's slowest calls are slow: how long its calls take, by what each path below it adds to the slowest, and which
/// these are.
public struct TailReport: Report {
    public struct Options: Sendable {
        /// The function, as it was asked for.
        public var function = ""
        /// In the text, paths that add less than this part of the difference are summed up in one line for each caller; 0...1.
        public var threshold = 0.01
        /// In ns: likewise.
        public var minCost: UInt64 = 0
        /// Lines to show of the paths' tree, ...
        public var lines = Int.max
        /// ... and slow calls to list.
        public var calls = Int.max
        public var layout = TextLayout()

        public init() {}
    }

    let tail: TailComparison
    let options: Options
    let histogram: DurationHistogram

    public init(_ tail: TailComparison, options: Options) {
        self.tail = tail
        self.options = options
        histogram = DurationHistogram(tail.durations)
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: TailText(self, writer).write()
        case .json: TailJSON(self, writer).write()
        }
    }

    func names(_ functions: [UInt32]) -> [String] { functions.map { tail.functions[$0].name } }

    /// What a number of ns is of the difference of the means; 0 when there is none.
    func part(_ difference: Double) -> Double { tail.difference == 0 ? 0 : difference / tail.difference }
}
