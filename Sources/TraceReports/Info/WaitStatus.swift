internal import TraceText

/// How a process ended, as wait(2) tells it.
struct WaitStatus {
    private let status: Int32

    init(_ status: Int32) { self.status = status }

    /// The signal that killed it, by name; nil when it exited.
    var signal: String? { status & 0x7f == 0 ? nil : signalName(status & 0x7f) }

    /// The exit status, when no signal killed it.
    var exitStatus: Int32 { status >> 8 & 0xff }

    /// For people: `exited`, `exited with status 3`, `killed by SIGSEGV, core dumped`.
    var text: String {
        if let signal { return "killed by \(signal)" + (status & 0x80 != 0 ? ", core dumped" : "") }
        return status == 0 ? "exited" : "exited with status \(exitStatus)"
    }
}
