internal import CTraceFormat  // its headers include those of libc: Swift may take theirs for the place of stat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Runs the command again without the runtime, so that the two can be compared.
///
/// Short commands run a few times. Their output goes to /dev/null. Their input is that of the recorded run: a file from
/// where that run began, or /dev/null in place of a terminal.
struct BaselineRun {
    private let request: RecordingRequest
    private let input: Input

    /// Runs are enough after this many nanoseconds of wall time, and there are at most this many.
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
    init(_ request: RecordingRequest) throws(RecordingError) {
        self.request = request
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
        case measured(Baseline)
        case failed(String)
    }

    /// Runs the command as often as it takes.
    ///
    /// - Parameters:
    ///   - traced: what the recorded run took, and how it ended.
    func run(
        traced: Baseline.Usage, status: TargetStatus, arguments: [UnsafeMutablePointer<CChar>?],
        environment: [UnsafeMutablePointer<CChar>?], signals: Target.InheritedSignals
    ) -> Outcome {
        guard case .exited = status else { return .failed("the program did not exit by itself") }
        let end = lseek(STDIN_FILENO, 0, SEEK_CUR)
        defer { if case .file = input { lseek(STDIN_FILENO, end, SEEK_SET) } }
        var runs: [Baseline.Usage] = []
        let start = SystemClock.monotonic
        repeat {
            if case .file(let start) = input { lseek(STDIN_FILENO, start, SEEK_SET) }
            var hasInput = true
            if case .nothing = input { hasInput = false }
            let before = Baseline.Usage.ofChildren
            let target: Target
            do throws(RecordingError) {
                target = try Target(
                    starting: request.executable, arguments: arguments, environment: environment, signals: signals,
                    streams: hasInput ? .silent : .none)
            } catch {
                return .failed(error.description)
            }
            let ended = TargetStatus(target.wait())
            guard ended == status else { return .failed("without the runtime the program ended in another way") }
            runs.append(Baseline.Usage.ofChildren - before)
        } while runs.count < BaselineRun.most && SystemClock.monotonic - start < BaselineRun.enough
        runs.sort { $0.total < $1.total }
        return .measured(Baseline(traced: traced, plain: runs[runs.count / 2], runs: UInt64(runs.count)))
    }
}
