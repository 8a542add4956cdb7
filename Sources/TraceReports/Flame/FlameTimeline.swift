/// What a flame chart shows besides calls.
struct FlameTimeline {
    /// A thread, one of its other stacks, or a task.
    struct Band {
        var name: String
        var marks: [(name: String, moment: UInt64)] = []
        var counters: [Counter] = []
        /// The stretches in which it had no CPU, in order of time.
        var states: [State] = []
        /// The rows below its name that show no calls.
        var extraRows: Int { (states.isEmpty ? 0 : 1) + FlameTimeline.counterRows * counters.count }
    }

    /// A stretch of time in which a thread had no CPU. Moments are as those of marks.
    struct State {
        var begin: UInt64
        var length: UInt64
        var wantsCPU: Bool
        /// What it waited for; nil when that is not known.
        var text: String?
        /// Who ended the wait: the band, if it is shown, when that was, and where.
        var waker: (band: Int?, moment: UInt64, path: String)?
    }

    /// A counter's values, in order of time.
    struct Counter {
        var name: String
        var points: [(moment: UInt64, value: Double)] = []
    }

    /// A counter's height; `data.js` says the same.
    static let counterRows = 2

    /// The moment of the chart's left end, in ns since the session's start. Moments of marks and counters are ns from there.
    var origin: UInt64
    /// Those that have a row of their own: none when there is but one thread, without marks and counters.
    var bands: [Band]
}
