internal import CThreadStop
internal import Glibc
internal import TraceSymbols

/// A thread of another process that is stopped for as long as it takes to look at it.
///
/// Whatever becomes of this process, the thread goes on.
struct StoppedThread {
    private let tid: Int32
    private let signal: Int32
    let registers: NativeRegisters

    /// The longest wait for a thread to stop. A thread that runs stops when it gets a processor again.
    private static let patience = 250_000  // us
    private static let pause = 50  // us

    enum Failure: Error {
        /// The right to attach is missing, or another process, such as a debugger, is attached already.
        case refused
        /// It has ended, or does not stop.
        case gone
    }

    init(_ tid: Int32, in pid: Int32) throws(Failure) {
        do throws(ThreadStop.Failure) { try ThreadStop.ask(tid, in: pid) } catch {
            throw error == .refused ? .refused : .gone
        }
        var signal: Int32 = 0, waited = 0
        while true {
            let state = fathom_stop_look(tid, &signal)
            if state > 0 { break }
            guard state == 0, waited < Self.patience else { throw .gone }
            usleep(UInt32(Self.pause))
            waited += Self.pause
        }
        var values = [UInt64](repeating: 0, count: Int(FATHOM_REGISTERS)), counter: UInt64 = 0
        let count = fathom_stop_registers(tid, &values, &counter)
        guard count > 0 else {
            fathom_stop_end(tid, signal)
            throw .gone
        }
        Self.mend(tid)
        self.tid = tid
        self.signal = signal
        registers = NativeRegisters(all: Array(values[..<Int(count)]), programCounter: counter)
    }

    func goOn() { fathom_stop_end(tid, signal) }

    /// Lets a thread go on that has stopped after this gave up waiting for it.
    static func release(_ tid: Int32) -> Bool {
        var signal: Int32 = 0
        let state = fathom_stop_look(tid, &signal)
        if state > 0 {
            mend(tid)
            fathom_stop_end(tid, signal)
        }
        return state != 0
    }

    /// Mends a system call that the stop has ended early. Whether the thread is in one that a stop ends is looked at before
    /// the stop, and it can enter one in between.
    private static func mend(_ tid: Int32) {
        var stopped = fathom_stopped()
        guard fathom_stopped_look(tid, &stopped) == 0 else { return }
        InterruptedCall.mend(stopped, tid)
    }
}
