internal import CThreadStop
internal import Glibc
internal import TraceFile
internal import TraceSymbols
internal import TraceWatch

/// A thread of another process that is stopped until it is let go. If this process ends meanwhile, the thread goes on.
///
/// Only the thread of this process that has asked it to stop may do anything to it.
struct HeldThread {
    let tid: Int32
    private let signal: Int32
    /// When it had not stopped yet.
    let begin: UInt64
    let stopped: fathom_stopped
    let registers: NativeRegisters

    enum Failure: Error, Equatable {
        case refused
        /// It has ended.
        case gone
        /// This one waits in the kernel, and does not stop before it is back.
        case late(Int32)
        /// It is one of a 32-bit program.
        case foreign
    }

    /// Asks a thread to stop, unless it waits where it would not.
    static func ask(_ tid: Int32, in pid: Int32) throws(Failure) {
        do throws(ThreadStop.Failure) { try ThreadStop.ask(tid, in: pid) } catch {
            throw error == .refused ? .refused : .gone
        }
    }

    /// Whether a thread waits for a device, for memory, or for its child (vfork): it stops when that is over.
    static func waitsInKernel(_ tid: Int32, of pid: Int32) -> Bool { TaskFacts(pid, thread: tid)?.state == "D" }

    /// Asks a thread to stop, and waits for that.
    init(stopping tid: Int32, of pid: Int32, _ standstills: Standstills) throws(Failure) {
        if standstills.isLate(tid) || Self.waitsInKernel(tid, of: pid) { throw .late(tid) }
        let begin = Standstills.now
        try Self.ask(tid, in: pid)
        var last = begin
        while true {
            let now = Standstills.now
            if let thread = try HeldThread(ifStopped: tid, since: last) {
                self = thread
                return
            }
            last = now
            if now - begin > Standstills.patience {
                standstills.add(late: tid)
                throw .late(tid)
            }
            usleep(50)
        }
    }

    /// Nil as long as a thread that was asked to stop has not stopped.
    ///
    /// - Parameter begin: when it was last found running.
    init?(ifStopped tid: Int32, since begin: UInt64) throws(Failure) {
        var signal: Int32 = 0
        let state = fathom_stop_look(tid, &signal)
        if state == 0 { return nil }
        guard state > 0 else { throw .gone }
        var stopped = fathom_stopped(), counter: UInt64 = 0
        var values = [UInt64](repeating: 0, count: Int(FATHOM_REGISTERS))
        guard fathom_stopped_look(tid, &stopped) == 0 else {
            let reason = errno
            fathom_stop_end(tid, signal)
            throw reason == EPROTO ? .foreign : .gone
        }
        let count = fathom_stop_registers(tid, &values, &counter)
        self.tid = tid
        self.signal = signal
        self.begin = begin
        self.stopped = stopped
        registers = NativeRegisters(all: Array(values[..<Int(max(count, 0))]), programCounter: counter)
        InterruptedCall.mend(stopped, tid)
    }

    /// Whether the thread can be made to call something. It cannot when it is about to get a signal.
    var isFree: Bool { signal == 0 }

    /// Whether it is still in a call in which it was blocked.
    func isIn(_ call: BlockedCall) -> Bool {
        stopped.system_call == call.number && stopped.stack_pointer == call.stackPointer
            && stopped.program_counter == call.programCounter
    }

    /// Makes it go on elsewhere.
    func move(to counter: UInt64) { _ = fathom_stop_move(tid, counter) }

    func letGo(_ standstills: Standstills) {
        fathom_stop_end(tid, signal)
        standstills.add(since: begin)
    }
}
