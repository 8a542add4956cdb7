internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// Moves what the kernel tells of a program's start to the session, on a thread of its own.
final class StartRecorder: @unchecked Sendable {
    private let rings: StartRings?
    private let refusal: String?
    private let log: StartupLogWriter
    private lazy var thread = rings.map { rings in
        RingThread(yields: false, waits: rings.wait, look: { [unowned self] in take() })
    }
    private var pid: UInt32 = 0

    /// To be made by the thread that starts the program, before it does.
    init(_ rings: StartRings?, refusal: String?, _ log: StartupLogWriter) {
        self.rings = rings
        self.refusal = refusal
        self.log = log
    }

    /// What the kernel is asked for, or why it refuses.
    static func open(main: UInt64?) -> (rings: StartRings?, refusal: String?) {
        do throws(EventRefusal) { return (try StartRings(main: main), nil) } catch { return (nil, error.text()) }
    }

    /// Why not everything could be written; nil while it could.
    var error: String? { log.error.map { String(cString: strerror($0)) } }

    /// - Parameter begin: right before the program was started, in ns of CLOCK_MONOTONIC.
    func start(_ pid: pid_t, from begin: UInt64) {
        self.pid = UInt32(bitPattern: pid)
        log.begin(self.pid, at: begin, refusal: refusal)
        thread?.start()
    }

    private func take() { rings?.take(of: pid) { log.append($0, lost: $1) } }

    /// Takes what is left, once the program has ended.
    func finish() {
        thread?.stop()
        take()
        rings?.close()
        log.close()
    }
}
