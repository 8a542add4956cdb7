/// The name of a signal as people write it, by Linux's numbers on x86-64 and aarch64.
public func signalName(_ number: Int32) -> String {
    let names = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
        "IO",
        "PWR", "SYS",
    ]
    return (1...Int32(names.count)).contains(number) ? "SIG" + names[Int(number) - 1] : "signal \(number)"
}
