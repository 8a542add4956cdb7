internal import CTraceFormat  // its headers include those of libc: Swift may take theirs for the place of timeval
internal import Glibc
internal import TraceFile

extension Baseline.Usage {
    /// What the processes took that were waited for until now, and those that they waited for.
    static var ofChildren: Self {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        func nanoseconds(_ time: timeval) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
        return Self(userNanoseconds: nanoseconds(usage.ru_utime), systemNanoseconds: nanoseconds(usage.ru_stime))
    }

    static func - (end: Self, start: Self) -> Self {
        Self(
            userNanoseconds: end.userNanoseconds - start.userNanoseconds,
            systemNanoseconds: end.systemNanoseconds - start.systemNanoseconds)
    }
}
