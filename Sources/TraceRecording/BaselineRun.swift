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

/// What the command took with the runtime and without it.
public struct BaselineSummary: Sendable {
    var traced: ProcessorTime
    /// The median of `runs`.
    var plain: ProcessorTime
    /// How often it ran without the runtime.
    public var runs: Int

    /// CPU time in nanoseconds, the program's own and the system's for it.
    public var tracedNanoseconds: UInt64 { traced.total }
    public var plainNanoseconds: UInt64 { plain.total }
}

/// Runs the command again without the runtime, so that the two can be compared.
///
/// Short commands run a few times. Their output goes to /dev/null, their input is what the recorded run had: a file from
/// where that began, /dev/null for a terminal.
struct BaselineRun {
    private let options: RecordingOptions
    private let input: Input

    /// Enough, in nanoseconds of wall time, and at most so many runs.
    private static let enough: UInt64 = 1_000_000_000
    private static let most = 5

    private enum Input {
        case same
        case file(start: off_t)
        case nothing
    }

    /// Looks at the standard input before anything runs.
    ///
    /// - Throws: ``RecordingError/inputNotRepeatable``.
    init(_ options: RecordingOptions) throws(RecordingError) {
        self.options = options
        var status = stat()
        if fstat(STDIN_FILENO, &status) != 0 {
            input = .same
        } else if status.st_mode & S_IFMT == S_IFREG {
            input = .file(start: lseek(STDIN_FILENO, 0, SEEK_CUR))
        } else if status.st_mode & S_IFMT == S_IFCHR {
            input = isatty(STDIN_FILENO) == 1 ? .nothing : .same
        } else {
            throw .inputNotRepeatable
        }
    }

    enum Outcome {
        case measured(BaselineSummary)
        case failed(String)
    }

    /// Runs the command as often as it takes.
    ///
    /// - Parameters:
    ///   - traced: what the recorded run took, and how it ended.
    func run(
        traced: ProcessorTime, status: TargetStatus, arguments: [UnsafeMutablePointer<CChar>?],
        environment: [UnsafeMutablePointer<CChar>?], signals: Target.InheritedSignals
    ) -> Outcome {
        guard case .exited = status else { return .failed("the program did not exit by itself") }
        let end = lseek(STDIN_FILENO, 0, SEEK_CUR)
        defer { if case .file = input { lseek(STDIN_FILENO, end, SEEK_SET) } }
        var runs: [ProcessorTime] = []
        let start = SessionClock.nanoseconds(CLOCK_MONOTONIC)
        repeat {
            if case .file(let start) = input { lseek(STDIN_FILENO, start, SEEK_SET) }
            var hasInput = true
            if case .nothing = input { hasInput = false }
            let before = ProcessorTime.ofChildren
            let target: Target
            do throws(RecordingError) {
                target = try Target(
                    starting: options.executable, arguments: arguments, environment: environment, signals: signals,
                    streams: hasInput ? .silent : .none)
            } catch {
                return .failed(error.description)
            }
            let ended = TargetStatus(target.wait())
            guard ended == status else { return .failed("without the runtime the program ended in another way") }
            runs.append(ProcessorTime.ofChildren - before)
        } while runs.count < BaselineRun.most && SessionClock.nanoseconds(CLOCK_MONOTONIC) - start < BaselineRun.enough
        runs.sort { $0.total < $1.total }
        return .measured(BaselineSummary(traced: traced, plain: runs[runs.count / 2], runs: runs.count))
    }
}
