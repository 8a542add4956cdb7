internal import CTraceFormat  // its headers include those of libc: Swift may take theirs for the place of timeval
internal import Glibc

/// CPU time of the processes that were waited for, and of those they waited for.
struct ProcessorTime {
    var userNanoseconds: UInt64
    var systemNanoseconds: UInt64

    var total: UInt64 { userNanoseconds + systemNanoseconds }

    /// Of all children until now.
    static var ofChildren: ProcessorTime {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        func nanoseconds(_ time: timeval) -> UInt64 {
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
        return ProcessorTime(
            userNanoseconds: nanoseconds(usage.ru_utime), systemNanoseconds: nanoseconds(usage.ru_stime))
    }

    static func - (end: ProcessorTime, start: ProcessorTime) -> ProcessorTime {
        ProcessorTime(
            userNanoseconds: end.userNanoseconds - start.userNanoseconds,
            systemNanoseconds: end.systemNanoseconds - start.systemNanoseconds)
    }
}
