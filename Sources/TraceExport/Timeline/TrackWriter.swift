internal import TraceAnalysis

/// Receives calls in pre-order, track by track. Times on a track never go back.
protocol TrackWriter {
    /// Whether the writer takes more.
    var wantsMore: Bool { get }
    /// Begins a track, which has calls or events.
    mutating func begin(_ track: Track)
    mutating func enter(_ call: TreeCall)
    mutating func leave(_ call: TreeCall)
    /// Shows a mark or a counter's value, in order of time with the begins and ends of calls.
    mutating func show(_ event: TreeEvent)
    mutating func endTrack()
}

extension TrackWriter {
    /// Formats without marks and counters leave them out.
    mutating func show(_ event: TreeEvent) {}
}
