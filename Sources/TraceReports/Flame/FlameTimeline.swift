internal import TraceAnalysis

/// What a flame chart shows besides calls.
struct FlameTimeline {
    /// Whose calls there are: a thread's, those of one of its other stacks, or a task's.
    struct Track {
        var thread: ThreadLabel
        var lane: UInt32

        /// `worker 4242`, `task 12`.
        var name: String { lane == 0 ? thread.text : "\(thread.text) · stack \(lane)" }
    }

    /// What is shown of a track.
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

    /// A counter's height.
    static let counterRows = 2

    /// The moment of the chart's left end, in ns since the session's start. Moments of marks and counters are ns from there.
    var origin: UInt64
    var tracks: [Track]
    /// Of each track; none when there is but one, without marks and counters.
    var bands: [Band]
}
