internal import TraceFile

/// Takes the pieces of tasks out of a thread's calls.
struct TaskPieceSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// Writes its callees. It is unmanaged because there is one access a call, and counting references would slow
        /// each.
        var writer: Unmanaged<JoinedChunks>
        /// Index of the run that the call belongs to, or -1.
        var run: Int32 = -1
        var isBase = false
        /// Whether the run begins with this call.
        var isRoot = false
    }

    private let index: Int
    private var pending: TaskPiece?
    private(set) var runs: [TaskRun] = []
    /// What the thread did besides.
    let rest: JoinedChunks
    /// The records of runs. Those of a run within another run's calls are a level up.
    private(set) var levels: [JoinedChunks] = []
    private(set) var end: UInt64 = 0
    /// The moments when recording was started again.
    private(set) var starts: [UInt64] = []
    private let chunks: ChunkList

    /// - Parameter index: index of `thread` among the threads whose pieces are joined.
    init(_ thread: TracedThread, index: Int) {
        self.index = index
        chunks = thread.chunks
        rest = JoinedChunks(name: thread.name)
    }

    mutating func base(ofLane lane: UInt32) -> Payload {
        Payload(writer: Unmanaged.passUnretained(rest), isBase: true)
    }

    mutating func begin(piece: TaskPiece, at moment: UInt64) { pending = piece }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let caller = call - 1
        end = max(end, call.pointee.start)
        if let piece = pending {
            pending = nil
            // What the library calls for the task that is already running, such as a handler, is a call like any other.
            let outer = caller.pointee.payload.run
            if outer < 0 || runs[Int(outer)].piece.task != piece.task {
                begin(piece, call)
                return
            }
        }
        let (run, writer) = (caller.pointee.payload.run, caller.pointee.payload.writer)
        call.pointee.payload = Payload(writer: writer, run: run)
        if call.pointee.isInherited, run < 0 {
            rest.inherit(
                call.pointee.function, callSite: call.pointee.callSite, entered: call.pointee.enterTicks,
                at: call.pointee.start)
            return
        }
        // A run's own call is written later, under the address where its function begins.
        let isKnown = !caller.pointee.payload.isRoot && !caller.pointee.payload.isBase
        writer._withUnsafeGuaranteedRef {
            $0.enter(
                call.pointee.function, callSite: call.pointee.callSite, caller: isKnown ? caller.pointee.function : 0,
                callerSite: caller.pointee.callSite, at: call.pointee.start)
        }
    }

    private mutating func begin(_ piece: TaskPiece, _ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let start = call.pointee.start
        let caller = (call - 1).pointee.payload
        let outer = caller.run
        if !caller.isBase {
            caller.writer._withUnsafeGuaranteedRef {
                $0.enter(FunctionTable.runningTasks, callSite: 0, at: start)
            }
        }
        let level = outer < 0 ? 0 : runs[Int(outer)].level + 1
        if level == levels.count { levels.append(JoinedChunks(name: nil)) }
        let position = levels[level].beginStretch(at: start)
        call.pointee.payload = Payload(
            writer: Unmanaged.passUnretained(levels[level]), run: Int32(runs.count), isRoot: true)
        runs.append(
            TaskRun(
                piece: piece, thread: index, order: runs.count, function: call.pointee.function,
                callSite: call.pointee.callSite, start: start, end: start, first: position, last: position,
                level: level))
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end time: UInt64, state: CallState) {
        let payload = call.pointee.payload
        end = max(end, time)
        guard payload.isRoot else {
            close(payload, at: time, state)
            return
        }
        let run = Int(payload.run)
        runs[run].end = max(time, runs[run].start)
        runs[run].isOpen = state == .open
        runs[run].isUnwound = state == .unwound
        runs[run].last = levels[runs[run].level].position
        let caller = (call - 1).pointee.payload
        if !caller.isBase { close(caller, at: time, state) }
    }

    /// The innermost call that was written for `payload`'s writer ends.
    private func close(_ payload: Payload, at time: UInt64, _ state: CallState) {
        payload.writer._withUnsafeGuaranteedRef {
            switch state {
            case .complete: $0.exit(at: time)
            case .unwound: $0.unwind(at: time)
            // The run itself tells that its records are open.
            case .open: if payload.run < 0 { $0.stop(at: time) }
            }
        }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        call.pointee.payload.writer._withUnsafeGuaranteedRef { $0.drop(calls: calls, duration: time) }
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if told.isOfCall { return }
        // What the thread did for others is not the task's.
        if case .wake = told { return }
        end = max(end, moment)
        call.pointee.payload.writer._withUnsafeGuaranteedRef { $0.tell(told, at: moment) }
    }

    mutating func run(lane: UInt32, at moment: UInt64) { rest.run(lane: lane, at: moment) }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        end = max(end, moment)
        if chunks[index].restatesPath { starts.append(moment) }
    }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
