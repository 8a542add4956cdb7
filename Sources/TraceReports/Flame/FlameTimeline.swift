/// What a flame chart shows besides calls.
struct FlameTimeline {
    /// A thread, one of its other stacks, or a task.
    struct Band {
        var name: String
        var marks: [(name: String, moment: UInt64)] = []
        var counters: [Counter] = []
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
