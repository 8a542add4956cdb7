internal import ArgumentParser
internal import TraceAnalysis
internal import TraceQuery

/// Which threads of a session a command reads.
struct ThreadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only threads of this id or name, or main; 'task 12' or 'task *' for Swift's tasks.", valueName: "tid|glob"),
        completion: .thread)
    var thread: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only processes of this id, program, or command or title as headings tell it.", valueName: "pid|glob"),
        completion: .process)
    var process: [String] = []

    /// The threads that are asked for; a bad pattern is bad usage.
    func selection() throws -> ThreadSelection {
        do throws(Pattern.InvalidPattern) {
            return try ThreadSelection(threads: thread, processes: process)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
