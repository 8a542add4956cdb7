internal import TraceAnalysis
internal import TraceText

/// How reports say whether the cost of tracing is in their times.
struct TimesText {
    private let cost: TracingCost?
    /// The time that a sample stands for, in ns, where calls are samples.
    private let samplePeriod: UInt64?
    /// Whether there are times, and not only numbers of calls.
    private let areKept: Bool

    init(_ cost: TracingCost?, samplePeriod: UInt64? = nil, areKept: Bool = true) {
        self.cost = cost
        self.samplePeriod = samplePeriod
        self.areKept = areKept
    }

    /// `raw`, `corrected`, `sampled`, or `none` where times are 0 because none were kept.
    var name: StaticString {
        !areKept ? "none" : samplePeriod != nil ? "sampled" : cost == nil ? "raw" : "corrected"
    }

    /// What calls are headed by.
    var calls: String { samplePeriod == nil ? ReportColumn.calls.rawValue : "samples" }

    /// What follows the heading of names, the fullest text first.
    var headings: [String] {
        if !areKept { return [""] }
        if let samplePeriod {
            let time = String(time: samplePeriod)
            return [" (a sample stands for \(time))", " (samples of \(time))", ""]
        }
        guard let cost else { return [" (times as recorded)", ""] }
        guard cost.perCall > 0 else {
            return [
                " (times corrected by nothing: tracing cost too little to be measured)",
                " (times corrected by nothing)", " (times as recorded)", "",
            ]
        }
        return [" (times corrected: \(TimesText.tenths(cost.perCall)) ns a call)", " (times corrected)", ""]
    }

    /// How far a time may be off that was found in so many samples: twice the standard error of the binomial distribution, so
    /// it is right in 19 of 20 cases. In ns; nil where calls are no samples.
    ///
    /// - Parameters:
    ///   - time: a row's, in ns.
    ///   - samples: of the row.
    ///   - whole: the time that all samples stand for, in ns.
    func error(of time: UInt64, in samples: UInt64, of whole: UInt64) -> UInt64? {
        guard samplePeriod != nil else { return nil }
        let rest = 1 - min(Double(time) / Double(max(whole, 1)), 1)
        return UInt64(2 * Double(time) * (rest / Double(max(samples, 1))).squareRoot())
    }

    /// Writes the members of JSON that say it.
    func writeFields(_ json: JSONWriter) {
        json.field("times", name)
        if let samplePeriod { json.field("sample_ns", samplePeriod) }
        if let cost { json.field("cost_ns", raw: TimesText.tenths(cost.perCall)) }
    }

    /// The mark before the name of a function that is too short for its times to be relied on, and its legend. A `~` would make a
    /// constructor's name a destructor's.
    static let mark: StaticString = "≈"
    static var legend: String {
        "\(mark) less than \(AggregateRow.reliableAverage) ns on average: more hooks than function, not to be relied on\n"
    }

    private static func tenths(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
