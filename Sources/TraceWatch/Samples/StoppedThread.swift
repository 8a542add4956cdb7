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

    /// Longer than this nobody waits for a thread to stop. One that runs stops when it gets a processor again.
    private static let patience = 250_000  // us
    private static let pause = 50  // us

    enum Failure: Error {
        /// We may not, or somebody else, such as a debugger, is attached already.
        case refused
        /// It has ended, or does not stop.
        case gone
    }

    init(_ tid: Int32) throws(Failure) {
        guard fathom_stop_begin(tid) == 0 else { throw errno == ESRCH ? .gone : .refused }
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
        self.tid = tid
        self.signal = signal
        registers = NativeRegisters(all: Array(values[..<Int(count)]), programCounter: counter)
    }

    func goOn() { fathom_stop_end(tid, signal) }

    /// Lets a thread go on that has stopped when nobody waited for it any more.
    static func release(_ tid: Int32) -> Bool {
        var signal: Int32 = 0
        let state = fathom_stop_look(tid, &signal)
        if state > 0 { fathom_stop_end(tid, signal) }
        return state != 0
    }
}
