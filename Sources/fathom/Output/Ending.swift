internal import ArgumentParser
internal import Glibc
internal import TraceText

/// How the process ends when a command throws.
enum Ending {
    /// Ends as `error` asks for: with help, with a status whose reason is said already, or with the reason.
    ///
    /// - Parameters:
    ///   - command: whose help or usage is told.
    ///   - arguments: all that were given.
    static func end(_ command: any ParsableCommand.Type, by error: any Error, _ arguments: [String]) -> Never {
        let error = Diagnostics.ended(by: error)
        if let code = error as? ExitCode { exit(code.rawValue) }
        let status: ExitCode
        switch Fathom.exitCode(for: error) {
        case .success: status = show(Fathom.fullMessage(for: error), of: command)
        case .validationFailure:
            let words = UsageMessage(of: command, arguments).words(for: Fathom.message(for: error))
            status = Diagnostics.fail(words, .wrongUsage)
            let usage = Fathom.usageString(for: command).replacing("\n", with: "\n       ")
            Diagnostics.put("Usage: \(usage)\n  See '\(Fathom.name(of: command)) --help' for more.\n")
        default: status = Diagnostics.fail(Fathom.message(for: error), .failed)
        }
        exit(status.rawValue)
    }

    /// Writes what was asked for instead of running the command: its help, a version, or a script of completions.
    private static func show(_ text: String, of command: any ParsableCommand.Type) -> ExitCode {
        let writer = StandardOutput.writer()
        let isHelp = text.contains("USAGE: ")
        writer.write(isHelp && text.hasSuffix("\n") ? text : text + "\n")
        if isHelp { writer.write("\n\(ExitStatus.help(of: command))\n") }
        do { try StandardOutput.finish(writer) } catch { return error as? ExitCode ?? ExitStatus.failed.code }
        return ExitStatus.done.code
    }
}
