internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery

/// Makes the report of a hang from what is known at one moment.
struct HangWriter {
    let session: LiveSession
    let limits: HangLimits

    /// A moment at which the threads were looked at.
    struct Moment {
        var threads: [LiveThread]
        var ticks: UInt64
        var realtime: UInt64
    }

    func path(_ thread: LiveThread, at moment: Moment) -> [HangFrame] {
        thread.wholePath.compactMap { call in
            let function = session.function(at: call.function, of: thread.process)
            if function.isCompilerMade { return nil }
            let ticks = moment.ticks > call.enterTicks ? moment.ticks - call.enterTicks : 0
            return HangFrame(name: function.name, nanoseconds: session.threads.clock.nanoseconds(in: ticks))
        }
    }

    /// Makes the report of a thread, with what all threads of its process do.
    func hang(
        _ kind: Hang.Kind, _ process: WatchedProcess, thread tid: UInt32, duration: UInt64, ring: StackRing?,
        _ findings: [Int32: WaitFinder.Finding], _ circle: [UInt32] = [], at moment: Moment
    ) -> Hang {
        session.refresh()
        let live = moment.threads.filter { Int32(bitPattern: $0.pid) == process.pid }
        let traced = live.first.flatMap { session.process($0.process) }
        let facts = TaskFacts(process.pid)
        var hang = Hang(
            kind: kind, program: traced?.programName ?? facts?.name ?? "?", pid: UInt32(bitPattern: process.pid),
            thread: tid, threadName: facts.flatMap { _ in name(tid, process) } ?? "",
            startRealtime: moment.realtime > duration ? moment.realtime - duration : 0, duration: duration)
        hang.circle = circle
        hang.cpuPercent = process.usage.process
        hang.threadCount = facts?.threadCount ?? 0
        hang.memory = TaskFacts.memory(of: process.pid)
        if hang.threadCount > limits.threads {
            if kind == .hang || kind == .launch { hang.kind = .threads }
            return hang
        }
        hang.path = live.first { $0.tid == tid }.map { path($0, at: moment) } ?? []
        hang.threads = findings.keys.sorted().map { thread in
            threadFacts(thread, findings[thread]!, live.first { $0.tid == UInt32(bitPattern: thread) }, process, moment)
        }
        hang.repeated = ring?.mostRepeated { address in
            live.first.map { session.function(at: address, of: $0.process).name } ?? ""
        }
        return hang
    }

    private func name(_ tid: UInt32, _ process: WatchedProcess) -> String? {
        TaskFacts(process.pid, thread: Int32(bitPattern: tid))?.name
    }

    private func threadFacts(
        _ tid: Int32, _ finding: WaitFinder.Finding, _ live: LiveThread?, _ process: WatchedProcess, _ moment: Moment
    ) -> Hang.Thread {
        var thread = Hang.Thread(
            tid: UInt32(bitPattern: tid), name: name(UInt32(bitPattern: tid), process) ?? live?.name ?? "")
        thread.path = live.map { path($0, at: moment) } ?? []
        thread.wait = finding.wait?.kind
        thread.waitsFor = finding.wait?.text
        thread.owner = finding.wait?.owner
        thread.libraryCalls = finding.functions
        thread.cpuPercent = process.usage.threads[tid] ?? 0
        return thread
    }
}
