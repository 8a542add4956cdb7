internal import CThreadStop
internal import Glibc
internal import TraceWatch

/// All threads of a process, stopped until they are let go.
struct HeldProcess {
    let pid: Int32
    private(set) var threads: [HeldThread] = []
    /// When none of them had stopped yet.
    private var begin = UInt64.max
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
        var asked: [Int32] = [], refusal: HeldThread.Failure?, last = Standstills.now
        let asking = last
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
            let now = Standstills.now
            for tid in asked {
                do throws(HeldThread.Failure) {
                    if let thread = try HeldThread(ifStopped: tid, since: last) {
                        begin = min(begin, thread.begin)
                        threads.append(thread)
                    } else {
                        waiting.append(tid)
                    }
                } catch {
                    if error != .gone { refusal = error }
                }
            }
            asked = waiting
            last = now
            // As long as none has stopped, the machine is just busy.
            let waited = threads.isEmpty ? (now - asking) / 10 : now - min(begin, now)
            if let tid = asked.first, waited > Standstills.patience {
                for tid in asked { standstills.add(late: tid) }
                throw .late(tid)
            }
            if !asked.isEmpty { usleep(50) }
        }
        if let refusal { throw refusal }
    }

    /// Whether they have stood still for so long that what is to be done has to be left for another time.
    var isOverdue: Bool { Standstills.now - min(begin, Standstills.now) > Standstills.limit / 4 * 3 }

    func letGo() {
        for thread in threads { thread.letGo(standstills) }
    }
}
