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
    let stopped: fathom_stopped
    let registers: NativeRegisters

    enum Failure: Error, Equatable {
        case refused
        /// It has ended.
        case gone
        /// It has not stopped in the time that there was.
        case late
        /// It is one of a 32-bit program.
        case foreign
    }

    /// Asks a thread to stop.
    static func ask(_ tid: Int32) throws(Failure) {
        guard fathom_stop_begin(tid) == 0 else { throw errno == ESRCH ? .gone : .refused }
    }

    /// Waits until it has stopped.
    ///
    /// - Parameter patience: in microseconds.
    init(stopping tid: Int32, in pid: Int32, patience: Int = 250_000) throws(Failure) {
        var signal: Int32 = 0, waited = 0
        while true {
            let state = fathom_stop_look(tid, &signal)
            if state > 0 { break }
            guard state == 0 else { throw .gone }
            guard waited < patience else { throw .late }
            usleep(50)
            waited += 50
        }
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
        registers = NativeRegisters(all: Array(values[..<Int(max(count, 0))]), programCounter: counter)
        if InterruptedCall.beginAgain(stopped, tid, in: pid, about: signal) { stopped.program_counter -= 2 }
        self.stopped = stopped
    }

    /// Whether the thread can be made to call something. It cannot when it is about to get a signal.
    var isFree: Bool { signal == 0 }

    func letGo() { fathom_stop_end(tid, signal) }
}
