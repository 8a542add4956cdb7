internal import Glibc
public import TraceAnalysis
public import TraceFile
internal import TraceSystem

/// What the calls of a session add up to while it is being recorded, asked again and again.
///
/// Where each call is recorded, only what is new is read. Where the program adds calls up itself, and in a flight recorder's
/// ring, all that there is is read each time: it does not grow with time.
public final class RunningQuery {
    /// Everything, a process or a thread.
    public struct Choice {
        public let title: String
        public let isThread: Bool
        fileprivate let process: UInt32?
        fileprivate let thread: UInt32?
        fileprivate let pid: UInt32
        fileprivate let tid: UInt32

        /// Whether it is the same at another moment.
        public func isSame(as other: Choice) -> Bool { process == other.process && thread == other.thread }
    }

    /// How things are at a moment.
    public struct Moment {
        public let tree: CallPathTree
        public let choices: [Choice]
        /// Whether the recorder is still there.
        public let isRecording: Bool
        /// Whether recording was stopped, by `fathom ctl`, until it is started again.
        public let isStopped: Bool
        /// When the calls were as they are shown, in ns of CLOCK_MONOTONIC.
        public let at: UInt64
        public let processes: Int
        public let threads: Int
        /// Calls that left no record.
        public let lostCalls: UInt64
        /// Whether all that there was has been read.
        public let isThrough: Bool
    }

    public let path: String
    private let functions: FunctionTable
    private let filter: TreeFilter
    private let growing: GrowingPaths?
    private var isThrough = false
    private let everything: Choice

    /// - Parameters:
    ///   - session: as it was opened; it is not needed any more afterwards.
    ///   - listener: is told of symbols that cannot be read.
    public init(
        _ session: Session, _ options: QueryOptions, listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        var options = options
        // Joining tasks takes all of the recording.
        options.joinsTasks = false
        let query = SessionQuery(session, options, listener: listener)
        path = session.path
        functions = query.functions
        filter = query.filter
        everything = Choice(title: "everything", isThread: false, process: nil, thread: nil, pid: 0, tid: 0)
        guard session.growsByRecords else {
            growing = nil
            return
        }
        do throws(TraceFileError) {
            growing = GrowingPaths(try GrowingSession(session), functions: functions)
        } catch {
            throw .unreadable(error)
        }
    }

    /// Since when recording is stopped. The buffers are not kept open: whoever may write to them counts as a program.
    private var stoppedTicks: UInt64? { (try? LiveBuffers(of: path))?.stoppedTicks }

    /// Reads what is new, for about so long at most.
    ///
    /// - Returns: the part of the recording that was read, 0...1; less than 1 when there is more to be read already.
    public func read(for nanoseconds: UInt64) -> Double {
        guard let growing else { return 1 }
        let end = RunningQuery.now &+ nanoseconds
        isThrough = growing.read(while: { RunningQuery.now < end })
        return isThrough ? 1 : growing.session.part
    }

    private static var now: UInt64 { SystemClock.monotonic }

    /// How things are.
    ///
    /// - Parameter choice: of those of an earlier moment; nil for everything.
    /// - Throws: ``QueryError`` when the session cannot be read any more.
    public func moment(_ choice: Choice? = nil) throws(QueryError) -> Moment {
        if let growing { return moment(growing, choice) }
        let begin = RunningQuery.now, session = try Session.opened(path)
        var threads = session.processes.flatMap(\.threads)
        if let process = choice?.process { threads.removeAll { $0.process.index != process } }
        if let thread = choice?.thread { threads.removeAll { $0.serial != thread } }
        let aggregation = Aggregation(of: session, resolver: FunctionResolver(functions), filter: filter)
        var choices = [everything]
        for process in session.processes {
            choices.append(Choice(process: process))
            for thread in process.threads {
                choices.append(
                    Choice(process: process.index, process.pid, thread: thread.serial, thread.tid, thread.name))
            }
        }
        return Moment(
            tree: aggregation.tree(of: threads), choices: choices, isRecording: session.isRecording,
            isStopped: stoppedTicks != nil, at: begin, processes: session.processes.count,
            threads: session.processes.reduce(0) { $0 + $1.threads.count },
            lostCalls: session.lostCalls, isThrough: true)
    }

    private func moment(_ growing: GrowingPaths, _ choice: Choice?) -> Moment {
        var choices = [everything]
        let session = growing.session
        let threads = growing.threads
        for (index, id) in threads.enumerated() {
            if index == 0 || threads[index - 1].process != id.process, let process = session.process(id.process) {
                choices.append(Choice(process: process))
            }
            guard let label = session.label(of: id) else { continue }
            choices.append(Choice(process: id.process, label.pid, thread: id.thread, label.tid, label.name))
        }
        let stopped = stoppedTicks
        let tree = growing.tree(
            until: stopped,
            of: choice?.process.map { process in
                { id in id.process == process && (choice?.thread.map { $0 == id.thread } ?? true) }
            })
        return Moment(
            tree: tree.filtered(filter), choices: choices, isRecording: session.isRecording,
            isStopped: stopped != nil, at: session.lookedAtNanoseconds, processes: Set(threads.map(\.process)).count,
            threads: threads.count, lostCalls: session.lostCalls,
            isThrough: isThrough)
    }
}

extension RunningQuery.Choice {
    fileprivate init(process: TracedProcess) {
        self.init(
            title: "process \(process.pid) \(process.calledName ?? process.programName)", isThread: false,
            process: process.index, thread: nil, pid: process.pid, tid: 0)
    }

    fileprivate init(process: UInt32, _ pid: UInt32, thread: UInt32, _ tid: UInt32, _ name: String) {
        self.init(
            title: "thread \(tid)\(tid == pid ? " main" : "")\(name.isEmpty ? "" : " \(name)")", isThread: true,
            process: process, thread: thread, pid: pid, tid: tid)
    }
}
