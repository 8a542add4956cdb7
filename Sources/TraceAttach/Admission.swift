internal import Glibc
internal import TraceFile
internal import TraceSymbols
internal import TraceWatch

/// Whether a process may be attached to, as far as that can be told before it is tried.
enum Admission {
    static func check(_ pid: Int32) throws(AttachError) {
        guard let facts = TaskFacts(pid) else { throw .noProcess(pid) }
        if facts.hasEnded { throw .ended(pid) }
        #if !arch(x86_64)
            throw .refused(pid, reason: "attaching is for x86-64 only; start it by fathom record, or by fathom arm")
        #endif
        if pid == getpid() { throw .refused(pid, reason: "that is fathom itself") }
        if let session = SessionOfProcess.directory(pid), let steering = try? Steering(session: session),
            let recorder = steering.status.recorder
        {
            throw .refused(
                pid,
                reason:
                    "it is being recorded already, into \(session) by process \(recorder); fathom ctl \(pid) steers that"
            )
        }
        if let tracer = SystemFile.value(of: "TracerPid", in: "/proc/\(pid)/status"), tracer != "0" {
            throw .refused(pid, reason: "process \(tracer) traces it already, as debuggers and strace do")
        }
        if facts.state == "T" { throw .notReady(pid, reason: "it is stopped; kill -CONT \(pid) lets it go on") }
        // A call of the runtime ends in a trap, and the kernel would take that wish away.
        if let ignored = SystemFile.value(of: "SigIgn", in: "/proc/\(pid)/status"),
            UInt64(ignored, radix: 16).map({ $0 & 1 << UInt64(SIGTRAP - 1) != 0 }) ?? false
        {
            throw .refused(pid, reason: "it ignores SIGTRAP, by which fathom would come in; start it by fathom arm")
        }
        try checkFilter(pid)
        try checkProgram(pid)
    }

    /// A filter of system calls may end the program for one that the runtime makes. Filters that hold for us as well, as in
    /// a container, let such programs be recorded.
    private static func checkFilter(_ pid: Int32) throws(AttachError) {
        if Confinement(of: pid, in: pid) == .own { throw .refused(pid, reason: confined) }
        // What makes a thread call something is a return address that its shadow stack does not have.
        let features = SystemFile.value(of: "x86_Thread_features", in: "/proc/\(pid)/status") ?? ""
        if features.split(separator: " ").contains("shstk") {
            throw .refused(pid, reason: "it has shadow stacks, which forbid calls from outside; start it by fathom arm")
        }
    }

    static let confined =
        "it has confined itself (seccomp), and might be ended for a system call of the runtime's; start it by fathom "
        + "record, which records until then"

    private static func checkProgram(_ pid: Int32) throws(AttachError) {
        let program: ExecutableInspection
        do throws(SymbolProblem) { program = try ExecutableInspection.inspect(path: "/proc/\(pid)/exe") } catch {
            throw refusal(pid, EACCES)
        }
        let reason: String? =
            switch program.kind {
            case _ where !program.is64Bit: "it is a 32-bit program"
            case _ where !program.matchesHost: "it is built for another machine, and runs in an emulator"
            case _ where program.usesMusl: "its C library is musl, but the runtime is made for glibc"
            case .sharedLibrary: "it is a loader, or a library, that runs by itself; start the program without it"
            case .elfStatic:
                program.hasFathomRuntime
                    ? "it is statically linked, so nothing can be pointed to the runtime in it; start it by fathom record"
                    : "it is statically linked without the runtime, which cannot be loaded into it; fathom build links it in"
            case _ where program.hasOwnHooks:
                "it has a function __cyg_profile_func_enter of its own, which its functions call in place of Fathom's"
            default: nil
            }
        if let reason { throw .refused(pid, reason: reason) }
    }

    /// Why the kernel has refused.
    static func refusal(_ pid: Int32, _ error: Int32) -> AttachError {
        if TaskFacts(pid)?.hasEnded ?? true { return .ended(pid) }
        var status = stat()
        if let tracer = SystemFile.value(of: "TracerPid", in: "/proc/\(pid)/status"), tracer != "0" {
            return .refused(pid, reason: "process \(tracer) traces it already, as debuggers and strace do")
        }
        if stat("/proc/\(pid)", &status) == 0, status.st_uid != geteuid(), geteuid() != 0 {
            let user = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
            return .refused(
                pid, reason: "it belongs to user \(user), or hides itself (PR_SET_DUMPABLE); run fathom as root")
        }
        let scope = SystemFile.firstLine(of: "/proc/sys/kernel/yama/ptrace_scope")
        switch scope {
        case "1" where geteuid() != 0:
            return .refused(
                pid,
                reason:
                    "/proc/sys/kernel/yama/ptrace_scope is 1, which keeps users from tracing programs that they have "
                    + "not started; run fathom as root, set it to 0, or start the program by fathom arm")
        case "2" where geteuid() != 0:
            return .refused(
                pid,
                reason: "/proc/sys/kernel/yama/ptrace_scope is 2, which asks for the capability CAP_SYS_PTRACE; "
                    + "run fathom as root, or start the program by fathom arm")
        case "3":
            return .refused(
                pid,
                reason:
                    "/proc/sys/kernel/yama/ptrace_scope is 3, so nothing can be traced until the machine starts anew; "
                    + "start the program by fathom arm")
        default:
            return .refused(
                pid,
                reason: "\(String(cString: strerror(error))); the capability CAP_SYS_PTRACE may be missing, as in a "
                    + "container (--cap-add SYS_PTRACE); fathom arm needs none")
        }
    }
}
