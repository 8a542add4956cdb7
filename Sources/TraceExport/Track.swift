internal import TraceAnalysis
internal import TraceFormat

/// One stack of one thread: what a timeline shows as a row of nested bars.
struct Track {
    let process: TracedProcess
    let thread: TracedThread
    /// 0 is the thread's own stack; others are coroutines and alternate stacks.
    let lane: UInt32

    /// `worker`, or `thread 12` for one without a name; `worker lane 1`.
    var name: String {
        let name = thread.name.isEmpty ? "thread \(thread.tid)" : thread.name
        return lane == 0 ? name : "\(name) lane \(lane)"
    }
}

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

extension TreeCall {
    /// ns since the session's start.
    var end: UInt64 { start &+ total }

    /// The part of the call in `window`, or nil if there is none. A call without length is where it begins.
    func cut(to window: Range<UInt64>) -> TreeCall? {
        if start >= window.lowerBound, end <= window.upperBound, start < window.upperBound { return self }
        guard start < window.upperBound, start >= window.lowerBound || end > window.lowerBound else { return nil }
        var part = self
        part.start = max(start, window.lowerBound)
        part.total = min(end, window.upperBound) - part.start
        return part
    }

    /// How the call ended or came to be, for viewers; nil for the ordinary case.
    var mark: StaticString? {
        if isInherited { return "inherited" }
        return switch state {
        case .complete: nil
        case .open: "open"
        case .unwound: "unwound"
        }
    }
}

extension TrackWriter {
    /// Formats without marks and counters leave them out.
    mutating func show(_ event: TreeEvent) {}
}

/// Turns a call tree into tracks, leaves out what lies deeper than a viewer can nest, and counts.
struct TrackVisitor<Writer: TrackWriter>: TreeVisitor {
    private(set) var writer: Writer
    private(set) var summary: ExportSummary
    private let maxDepth: UInt32
    private let window: Range<UInt64>
    private var process: TracedProcess?
    private var thread: TracedThread?
    private var lane: UInt32 = 0
    private var isInTrack = false

    init(_ writer: Writer, limit: ViewerLimit?, window: Range<UInt64>?) {
        self.writer = writer
        summary = ExportSummary(limit: limit)
        maxDepth = limit?.depth ?? .max
        self.window = window ?? 0..<UInt64.max
    }

    var wantsMore: Bool { writer.wantsMore }

    mutating func begin(_ process: TracedProcess) { self.process = process }

    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {
        self.thread = thread
        lane = 0
    }

    mutating func begin(lane: UInt32) { self.lane = lane }

    mutating func enter(_ call: TreeCall) {
        guard let call = call.cut(to: window) else { return }
        guard call.depth < maxDepth else {
            summary.tooDeep &+= 1
            return
        }
        summary.count(total: call.total)
        beginTrack()
        writer.enter(call)
    }

    mutating func show(_ event: TreeEvent) {
        beginTrack()
        writer.show(event)
    }

    private mutating func beginTrack() {
        guard !isInTrack, let process, let thread else { return }
        writer.begin(Track(process: process, thread: thread, lane: lane))
        isInTrack = true
    }

    mutating func leave(_ call: TreeCall) {
        if call.depth < maxDepth, let call = call.cut(to: window) { writer.leave(call) }
    }

    mutating func endLane(hidden: CallSum) {
        if isInTrack { writer.endTrack() }
        isInTrack = false
    }

    mutating func endThread() {}
    mutating func endProcess() {}
}
