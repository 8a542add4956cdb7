internal import CThreadStop
internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Runs a program to its end, and tells what it took of memory and time until then.
public struct StartRun: Sendable {
    public struct Result: Sendable {
        public var majorFaults: UInt64
        public var minorFaults: UInt64
        /// Pages of the program's own file that were in the process's memory.
        public var residentPages: UInt64
        /// From its first instruction to its end.
        public var nanoseconds: UInt64
        /// Whether it ran for so long that it was ended.
        public var wasEnded: Bool
        /// As wait(2) tells it.
        public var status: Int32
    }

    public enum Failure: Error, Sendable, CustomStringConvertible {
        case notStarted(String, errno: Int32)
        case notTold(String)

        public var description: String {
            switch self {
            case .notStarted(let path, let error): "\(path) cannot be started: \(String(cString: strerror(error)))"
            case .notTold(let path): "\(path): the system does not tell what its process took"
            }
        }
    }

    private let path: String
    private let arguments: [String]
    /// In seconds.
    private let limit: Double

    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: without its name.
    ///   - limit: after so many seconds it is ended.
    public init(_ path: String, _ arguments: [String], limit: Double) {
        self.path = path
        self.arguments = arguments
        self.limit = limit
    }

    /// Runs it once. The calling thread waits.
    public func run() throws(Failure) -> Result {
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let process = fathom_start_measured(path, &words, environ)
        guard process > 0 else { throw .notStarted(path, errno: errno) }
        let start = SystemClock.monotonic
        let watchdog = Watchdog(process, after: limit)
        let isThere = fathom_run_to_end(process) == 1
        let end = SystemClock.monotonic
        let wasEnded = watchdog.stop()
        let faults = isThere ? StartRun.faults(of: process) : nil
        let pages = isThere ? StartRun.residentPages(of: process, path) : nil
        let status = fathom_let_end(process)
        guard let faults, let pages else { throw .notTold(path) }
        return Result(
            majorFaults: faults.major, minorFaults: faults.minor, residentPages: pages, nanoseconds: end - start,
            wasEnded: wasEnded, status: status)
    }

    /// Fields 10 and 12 of /proc/PID/stat (proc(5)).
    private static func faults(of process: pid_t) -> (minor: UInt64, major: UInt64)? {
        guard let text = SystemFile.contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[end...].split(separator: " ").dropFirst()
        guard fields.count > 10, let minor = UInt64(fields[fields.startIndex + 7]),
            let major = UInt64(fields[fields.startIndex + 9])
        else { return nil }
        return (minor, major)
    }

    /// What /proc/PID/smaps says of the mappings of a file.
    private static func residentPages(of process: pid_t, _ path: String) -> UInt64? {
        guard let text = SystemFile.contents(of: "/proc/\(process)/smaps"), let resolved = realpath(path, nil) else {
            return nil
        }
        defer { free(resolved) }
        let wanted = " " + String(cString: resolved)
        var isOurs = false
        var kibibytes: UInt64 = 0
        for line in text.split(separator: "\n") {
            if let first = line.utf8.first, first < UInt8(ascii: "A") || first > UInt8(ascii: "Z") {
                isOurs = line.hasSuffix(wanted)
            } else if isOurs, line.hasPrefix("Rss:") {
                kibibytes += line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 0
            }
        }
        return kibibytes / 4
    }
}

/// Ends a process that runs for too long.
private final class Watchdog: @unchecked Sendable {
    private var mutex = pthread_mutex_t()
    private var condition = pthread_cond_t()
    private var isDone = false
    private var hasEnded = false
    private var thread: BackgroundThread?

    init(_ process: pid_t, after limit: Double) {
        pthread_mutex_init(&mutex, nil)
        pthread_cond_init(&condition, nil)
        thread = BackgroundThread { [self] in
            let end = Double(SystemClock.realtime) / 1e9 + limit
            var deadline = timespec(tv_sec: Int(end), tv_nsec: Int((end - end.rounded(.down)) * 1e9))
            pthread_mutex_lock(&mutex)
            while !isDone, pthread_cond_timedwait(&condition, &mutex, &deadline) != ETIMEDOUT {}
            if !isDone {
                hasEnded = true
                kill(process, SIGKILL)
            }
            pthread_mutex_unlock(&mutex)
        }
    }

    /// Whether the process was ended.
    func stop() -> Bool {
        pthread_mutex_lock(&mutex)
        isDone = true
        pthread_cond_signal(&condition)
        pthread_mutex_unlock(&mutex)
        thread?.join()
        return hasEnded
    }
}
