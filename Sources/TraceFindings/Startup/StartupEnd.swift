public import TraceAnalysis
public import TraceFile

/// Where a start is over.
public enum StartupEnd {
    /// main is called.
    case main
    /// The program marks a moment with this name (`fathom_mark`).
    case mark(String)
    /// A function is called first.
    case function(isAsked: (UInt32) -> Bool)
}

/// When the end point of a start was reached, and when main was called first, as recorded calls tell.
public struct StartupEndFinder {
    /// In ns since the session's start, on the clock that all threads share; nil: it was not reached.
    public private(set) var end: UInt64?
    public private(set) var main: UInt64?
    /// The last moment of the first process that is known.
    public private(set) var last: UInt64 = 0

    /// - Complexity: O(records).
    public init(
        _ end: StartupEnd, in session: Session, resolver: FunctionResolver, progress: ReadingProgress? = nil
    ) {
        guard let first = session.processes.first else { return }
        for process in session.processes {
            var marks: Set<UInt32> = []
            if case .mark(let name) = end {
                marks = Set(process.names.filter { $0.value.kind == .mark && $0.value.text == name }.keys)
            }
            for thread in process.threads where !thread.keepsPaths {
                progress?.begin(thread)
                let isFirst = process === first
                var sink = EndSink(resolver.space(of: process), end, marks: marks, wantsMain: isFirst && main == nil)
                StackReplay.run(
                    thread.onSharedClock, clock: session.clock, onChunk: { progress?.read(chunk: $0) }, into: &sink)
                if let found = sink.found { self.end = min(self.end ?? .max, found) }
                if isFirst, let found = sink.main { main = min(main ?? .max, found) }
                if isFirst { last = max(last, session.clock.nanoseconds(at: thread.lastTicks())) }
            }
        }
        if first.endTicks > 0 { last = max(last, session.clock.nanoseconds(at: first.endTicks)) }
    }
}

/// Finds the first moment of an end point in one thread.
private struct EndSink: CallSink {
    struct Payload: BitwiseCopyable {}

    private let space: AddressSpace
    private let isAsked: ((UInt32) -> Bool)?
    private let marks: Set<UInt32>
    private let wantsMain: Bool
    private(set) var found: UInt64?
    private(set) var main: UInt64?

    init(_ space: AddressSpace, _ end: StartupEnd, marks: Set<UInt32>, wantsMain: Bool) {
        self.space = space
        self.marks = marks
        self.wantsMain = wantsMain
        if case .function(let isAsked) = end { self.isAsked = isAsked } else { isAsked = nil }
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let looksForMain = wantsMain && main == nil
        guard looksForMain || isAsked != nil && found == nil, !call.pointee.isInherited else { return }
        let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
        if looksForMain, space.functions[function].name == "main" { main = call.pointee.start }
        if found == nil, isAsked?(function) ?? false { found = call.pointee.start }
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if found == nil, case .mark(let name) = told, marks.contains(name) { found = moment }
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {}
    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        !((found != nil || marks.isEmpty && isAsked == nil) && (self.main != nil || !wantsMain))
    }
}
