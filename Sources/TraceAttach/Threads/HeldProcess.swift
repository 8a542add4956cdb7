internal import CThreadStop
internal import Glibc
internal import TraceWatch

/// All threads of a process, stopped until they are let go.
struct HeldProcess {
    let pid: Int32
    private(set) var threads: [HeldThread] = []
    private let begin: UInt64
    private let standstills: Standstills

    /// Stops them. Threads that start others meanwhile are looked for again.
    ///
    /// - Throws: when one of them does not stop; then none is stopped, and none was where that could be known before.
    init(_ pid: Int32, _ standstills: Standstills) throws(HeldThread.Failure) {
        self.pid = pid
        self.standstills = standstills
        standstills.release()
        if let late = standstills.lateThread { throw .late(late) }
        var new = TaskFacts.threads(of: pid), known = Set(new)
        if let late = new.first(where: { HeldThread.waitsInKernel($0, of: pid) }) { throw .late(late) }
        begin = Standstills.now
        do throws(HeldThread.Failure) {
            while !new.isEmpty {
                try stop(new)
                new = TaskFacts.threads(of: pid).filter { known.insert($0).inserted }
            }
            if threads.isEmpty { throw .gone }
        } catch {
            letGo()
            throw error
        }
    }

    private mutating func stop(_ tids: [Int32]) throws(HeldThread.Failure) {
        var asked: [Int32] = [], refusal: HeldThread.Failure?
        for tid in tids {
            do throws(HeldThread.Failure) {
                try HeldThread.ask(tid, in: pid)
                asked.append(tid)
            } catch {
                if error != .gone { refusal = error }
            }
        }
        while !asked.isEmpty {
            var waiting: [Int32] = []
            for tid in asked {
                do throws(HeldThread.Failure) {
                    if let thread = try HeldThread(ifStopped: tid, since: begin) {
                        threads.append(thread)
                    } else {
                        waiting.append(tid)
                    }
                } catch {
                    if error != .gone { refusal = error }
                }
            }
            asked = waiting
            if let tid = asked.first, Standstills.now - begin > Standstills.patience {
                for tid in asked { standstills.add(late: tid) }
                throw .late(tid)
            }
            if !asked.isEmpty { usleep(50) }
        }
        if let refusal { throw refusal }
    }

    /// Whether they have stood still for so long that what is to be done has to be left for another time.
    var isOverdue: Bool { Standstills.now - begin > Standstills.limit / 4 * 3 }

    func letGo() {
        for thread in threads { thread.letGo(standstills) }
    }
}
