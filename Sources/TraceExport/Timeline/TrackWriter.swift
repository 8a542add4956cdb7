internal import TraceAnalysis

/// Receives calls in pre-order, track by track. Times on a track never go back.
protocol TrackWriter {
    /// Whether anybody takes more.
    var wantsMore: Bool { get }
    /// A track begins; it has calls or events.
    mutating func begin(_ track: Track)
    mutating func enter(_ call: TreeCall)
    mutating func leave(_ call: TreeCall)
    /// A mark or a counter's value, in order of time with the calls' begins and ends.
    mutating func show(_ event: TreeEvent)
    mutating func endTrack()
}

extension TrackWriter {
    /// Formats without marks and counters leave them out.
    mutating func show(_ event: TreeEvent) {}
}
