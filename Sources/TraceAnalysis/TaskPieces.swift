internal import TraceFormat

/// What ran of a task without a break: a call on a thread's stack, and what it called.
struct TaskRun {
    let piece: TaskPiece
    /// Index of the thread, and how many runs began there before.
    let thread: Int
    let order: Int
    let function: UInt64
    let callSite: UInt64
    let enterTicks: UInt64
    /// ns since the session's start.
    let start: UInt64
    var end: UInt64
    /// It had not ended when the recording did.
    var isOpen = false
    var isUnwound = false
    /// The records of what it called, in those of its level, and their enters.
    var records: Range<Int>
    var calls: UInt64 = 0
    /// Calls still open, below the run's own.
    var depth: UInt32 = 0
    var level: Int
    /// Of the last of its records, in ticks.
    var lastTime: UInt64 = 0
}

/// Takes the pieces of tasks out of a thread's calls.
struct TaskPieceSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// Index of the run it belongs to, or -1.
        var run: Int32 = -1
        var isBase = false
        /// It is where the run begins.
        var isRoot = false
    }

    private let index: Int
    private var pending: TaskPiece?
    private(set) var runs: [TaskRun] = []
    /// What the thread did besides.
    let rest: JoinedChunks
    /// The records of runs, those within a run's own calls a level up.
    private(set) var levels: [JoinedChunks] = []
    private(set) var end: UInt64 = 0

    private let clock: Clock

    init(thread index: Int, name: String, clock: Clock) {
        self.index = index
        self.clock = clock
        rest = JoinedChunks(name: name.isEmpty ? "?" : name, clock: clock)
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload(isBase: true) }

    mutating func begin(piece: TaskPiece, at moment: UInt64) { pending = piece }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        let caller = (call - 1).pointee
        end = max(end, call.pointee.start)
        if let piece = pending {
            pending = nil
            // What the library calls for the task that runs already, such as a handler, is a call like any other.
            let outer = caller.payload.run
            if outer < 0 || runs[Int(outer)].piece.task != piece.task {
                begin(piece, call, caller)
                return
            }
        }
        call.pointee.payload = Payload(run: caller.payload.run)
        let run = caller.payload.run
        if call.pointee.isInherited, run < 0 {
            rest.inherit(
                call.pointee.function, callSite: call.pointee.callSite, enterTicks: call.pointee.enterTicks,
                at: call.pointee.start)
            return
        }
        // A run's own call is put in later, under the address of its function's beginning.
        let isKnown = !caller.payload.isRoot && !caller.payload.isBase
        writer(run).enter(
            call.pointee.function, callSite: call.pointee.callSite, caller: isKnown ? caller.function : 0,
            at: call.pointee.start)
        if run >= 0 {
            runs[Int(run)].calls += 1
            runs[Int(run)].depth += 1
        }
    }

    private mutating func begin(
        _ piece: TaskPiece, _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ caller: OpenCall<Payload>
    ) {
        let start = call.pointee.start
        let outer = caller.payload.run
        if !caller.payload.isBase {
            writer(outer).enter(FunctionTable.runningTasks, callSite: 0, caller: 0, at: start)
            if outer >= 0 { runs[Int(outer)].calls += 1 }
            if outer >= 0 { runs[Int(outer)].depth += 1 }
        }
        let level = outer < 0 ? 0 : runs[Int(outer)].level + 1
        if level == levels.count { levels.append(JoinedChunks(name: "", clock: clock)) }
        let position = levels[level].mark(at: start)
        call.pointee.payload = Payload(run: Int32(runs.count), isRoot: true)
        runs.append(
            TaskRun(
                piece: piece, thread: index, order: runs.count, function: call.pointee.function,
                callSite: call.pointee.callSite, enterTicks: call.pointee.enterTicks, start: start, end: start,
                records: position..<position, level: level))
    }

    private func writer(_ run: Int32) -> JoinedChunks { run < 0 ? rest : levels[runs[Int(run)].level] }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end time: UInt64, state: CallState) {
        let payload = call.pointee.payload
        end = max(end, time)
        guard payload.isRoot else {
            close(payload.run, at: time, state)
            return
        }
        let run = Int(payload.run)
        let level = levels[runs[run].level]
        runs[run].end = max(time, runs[run].start)
        runs[run].isOpen = state == .open
        runs[run].isUnwound = state == .unwound
        runs[run].lastTime = level.time
        runs[run].records = runs[run].records.lowerBound..<level.bytes.count
        let caller = (call - 1).pointee.payload
        if !caller.isBase { close(caller.run, at: time, state) }
    }

    /// The innermost call that was written for `run` ends.
    private mutating func close(_ run: Int32, at time: UInt64, _ state: CallState) {
        switch state {
        case .complete: writer(run).exit(at: time)
        case .unwound: writer(run).unwind(at: time)
        case .open:
            // A run's own records are told to be open with the run.
            if run < 0 { rest.stop(at: time) }
            return
        }
        if run >= 0 { runs[Int(run)].depth -= 1 }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        writer(call.pointee.payload.run).drop(calls: calls, duration: time)
    }

    mutating func event(_ event: ThreadEvent, in call: UnsafeMutablePointer<OpenCall<Payload>>) {
        end = max(end, event.moment)
        writer(call.pointee.payload.run).event(event.name, value: event.value, at: event.moment)
    }

    mutating func run(lane: UInt32, at moment: UInt64) { rest.run(lane: lane, at: moment) }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) { end = max(end, moment) }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
