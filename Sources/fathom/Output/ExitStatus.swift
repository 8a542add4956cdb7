internal import ArgumentParser
internal import TraceRecording
internal import TraceText

/// How `fathom` ends. This is the table that each command's `--help` ends with.
enum ExitStatus: Int32 {
    case done = 0
    /// There is no answer to what was asked.
    case nothing = 1
    /// Something cannot be read or written.
    case failed = 2
    case wrongUsage = 64

    var code: ExitCode { ExitCode(rawValue) }

    /// The statuses of a command, each with its meaning.
    private static func meanings(of command: any ParsableCommand.Type) -> [(status: String, meaning: String)] {
        let usage = ("64", "Wrong usage.")
        switch command {
        case is Record.Type:
            return [
                ("*", "The program's own status. If a signal ended the program, the same signal ends fathom."), usage,
                ("\(RecordingError.ownStatus)", "Nothing was recorded: the session cannot be made."),
                ("126", "The program cannot be recorded, or not be run."), ("127", "The program is not there."),
            ]
        case is Arm.Type:
            return [
                ("*", "The program's own status. If a signal ended the program, the same signal ends fathom."), usage,
                ("\(RecordingError.ownStatus)", "Nothing was run: what it needs cannot be made."),
                ("126", "The program cannot be recorded, or not be run."), ("127", "The program is not there."),
            ]
        case is WatchCommand.Type:
            return [
                ("*", "The program's own status. If a signal ended the program, the same signal ends fathom."),
                ("0", "Without a program: no process is left to watch, watching was ended, or the list was shown."),
                ("1", "There are no reports to list."),
                ("2", "There is nothing to watch, or something cannot be read or written."), usage,
                ("\(RecordingError.ownStatus)", "Nothing was run: what it needs cannot be made."),
                ("126", "The program cannot be recorded, or not be run."), ("127", "The program is not there."),
            ]
        case is StartupCommand.Type:
            return [
                ("0", "The start is shown or written, up to its end point."),
                ("1", "The end point was not reached: what is shown is incomplete; or there are no scopes for a plan."),
                ("2", "Something cannot be read or written."), usage,
                ("\(RecordingError.ownStatus)", "Nothing was run: what it needs cannot be made."),
                ("126", "The program cannot be recorded, or not be run."), ("127", "The program is not there."),
            ]
        case is SampleCommand.Type:
            return [
                ("*", "Of a program that is started: its own; if a signal ended it, the same signal ends fathom."),
                ("0", "Of a process: the session is written."), ("1", "No stack could be seen."),
                ("2", "There is no such process, it may not be looked into, or the session cannot be written."), usage,
                ("126", "The program cannot be run."), ("127", "The program is not there."),
            ]
        case is Build.Type:
            return [
                ("*", "The build's own status."),
                ("1", "Also: the command cannot be run, or the build cannot be given hooks."),
                ("2", "Also: an --exclude-list cannot be read."), usage,
            ]
        case is CCompiler.Type, is CXXCompiler.Type:
            return [("*", "The compiler's own status."), ("1", "Also: the file cannot be given hooks.")]
        case is Diff.Type:
            return [
                ("0", "The recordings were compared, and no --fail-on holds."), ("1", "A --fail-on holds."),
                ("2", "Something cannot be read, compared or written."), usage,
            ]
        case is GateCommand.Type:
            return [
                ("0", "It is not worse."), ("1", "It is worse."),
                ("2", "Nobody can tell: more runs are needed, or something cannot be run, read or written."), usage,
            ]
        case is Ctl.Type:
            return [
                ("0", "The action was asked for, or the status was shown."),
                ("2", "The recording cannot be steered, or not in this way."), usage,
            ]
        case is Doctor.Type:
            return [
                ("0", "Recording is possible."), ("1", "Something keeps Fathom or the program from recording."),
                ("2", "The program cannot be read."), usage,
            ]
        case is Order.Type:
            return reading.map { row in
                row.status != "1"
                    ? row : ("1", "There is nothing to order or, with --verify, the new build does not start better.")
            }
        case is View.Type:
            return [
                ("0", "The server was ended, by Ctrl-C or another signal."),
                ("2", "The recording cannot be read, or not be served."), usage,
            ]
        case is Fathom.Type:
            return reading + [
                (
                    "\(RecordingError.ownStatus)-127",
                    "What was to be run was not: record, arm, watch, sample and startup."
                ),
                ("*", "record, arm, watch, sample, build, cc and c++ end as what they run."),
            ]
        default: return reading
        }
    }

    /// What the commands that read a session end with.
    private static let reading: [(status: String, meaning: String)] = [
        ("0", "Everything was shown or written."),
        ("1", "There is nothing to show: nothing that was recorded matches what was asked for."),
        ("2", "Something cannot be read or written."), ("64", "Wrong usage."),
    ]

    /// Where help explains, on a terminal of 80 columns.
    private static let column = 26

    /// The end of a command's help.
    static func help(of command: any ParsableCommand.Type) -> String {
        let lines = meanings(of: command).map { status, meaning in
            let start = "  \(status)"
            return start + String(repeating: " ", count: column - start.count)
                + meaning.wrapped(to: 80, indentation: column)
        }
        return "EXIT STATUS:\n" + lines.joined(separator: "\n")
    }
}
