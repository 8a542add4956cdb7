internal import TraceFile

/// Whether a filter of system calls (seccomp) holds for a thread. Such a filter may end the program for a system call that
/// it did not mean to make.
enum Confinement: Equatable {
    case none
    /// As for us, as in a container.
    case shared
    case own

    init(of tid: Int32, in pid: Int32) {
        func filters(_ status: String) -> (mode: String?, count: String?) {
            let lines = SystemFile.lines(of: status)
            func value(_ name: String) -> String? {
                lines.first { $0.hasPrefix(name) }.map { $0.dropFirst(name.count).filter { $0 != "\t" && $0 != " " } }
            }
            return (value("Seccomp:"), value("Seccomp_filters:"))
        }
        let its = filters("/proc/\(pid)/task/\(tid)/status")
        guard let mode = its.mode, mode != "0" else {
            self = .none
            return
        }
        let ours = filters("/proc/self/status")
        self = its == ours ? .shared : .own
    }
}
