internal import CThreadStop
internal import Glibc
internal import TraceWatch

/// All threads of a process, stopped until they are let go.
struct HeldProcess {
    let pid: Int32
    private(set) var threads: [HeldThread] = []

    /// Stops them. Threads that start others meanwhile are looked for again.
    ///
    /// - Throws: when one of them does not stop; then none is stopped.
    init(_ pid: Int32) throws(HeldThread.Failure) {
        self.pid = pid
        var known: Set<Int32> = []
        do throws(HeldThread.Failure) {
            while true {
                let new = TaskFacts.threads(of: pid).filter { !known.contains($0) }
                if new.isEmpty { break }
                known.formUnion(new)
                var asked: [Int32] = []
                var refusal: HeldThread.Failure?
                for tid in new {
                    do throws(HeldThread.Failure) {
                        try HeldThread.ask(tid)
                        asked.append(tid)
                    } catch {
                        // A thread that has ended can be listed until its process has.
                        if error == .refused, TaskFacts(pid, thread: tid).map({ !$0.hasEnded }) ?? false {
                            refusal = error
                        }
                    }
                }
                for tid in asked {
                    do throws(HeldThread.Failure) {
                        threads.append(try HeldThread(stopping: tid, in: pid))
                    } catch {
                        if error == .late { HeldThread.abandon(tid, of: pid) }
                        if error != .gone { refusal = error }
                    }
                }
                if let refusal { throw refusal }
            }
            if threads.isEmpty { throw .gone }
        } catch {
            letGo()
            throw error
        }
    }

    func letGo() { for thread in threads { thread.letGo() } }
}

extension HeldThread {
    /// Lets a thread go that has not stopped in time: it will not stop before it is back from the kernel.
    static func abandon(_ tid: Int32, of pid: Int32) {
        while true {
            var signal: Int32 = 0
            let state = fathom_stop_look(tid, &signal)
            if state > 0 { fathom_stop_end(tid, signal) }
            if state != 0 { return }
            usleep(1000)
        }
    }
}
