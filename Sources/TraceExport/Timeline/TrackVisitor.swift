internal import TraceAnalysis
internal import TraceFile

/// Turns a call tree into tracks, leaves out calls that lie deeper than a viewer can nest, and counts both.
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
        summary = ExportSummary()
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
        summary.count()
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
